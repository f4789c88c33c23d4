-- One row for each run, and where it stands.
CREATE TABLE runs (
    cluster_id text        NOT NULL,
    run_id     uuid        NOT NULL, -- the id of its root agent, too
    bus_seq    bigint      NOT NULL, -- of the record that defined it
    defined_at timestamptz NOT NULL,
    goal       text        NOT NULL,
    seed       text,                 -- null for the cluster's
    tasks      int,                  -- of its plan; null until it is planned
    state      text        NOT NULL,
    state_seq  bigint      NOT NULL, -- of the record that led to it
    state_at   timestamptz NOT NULL,
    cause      text,                 -- what led to it: operator, budget, governance, security, runaway_cost or kernel
    code       text,
    reason     text,
    PRIMARY KEY (cluster_id, run_id)
);
CREATE UNIQUE INDEX runs_by_seq ON runs (cluster_id, bus_seq);
CREATE INDEX runs_by_state ON runs (cluster_id, state);

CREATE TABLE run_tasks (
    cluster_id text        NOT NULL,
    run_id     uuid        NOT NULL,
    task       int         NOT NULL, -- its place in the plan, from 0
    bus_seq    bigint      NOT NULL, -- of the record that planned it
    name       text        NOT NULL,
    state      text        NOT NULL, -- WAITING, RUNNING, DONE, FAILED
    state_seq  bigint      NOT NULL,
    started_at timestamptz,
    ended_at   timestamptz,
    code       text,
    message    text,
    PRIMARY KEY (cluster_id, run_id, task)
);

CREATE TABLE run_transitions (
    cluster_id text        NOT NULL,
    bus_seq    bigint      NOT NULL,
    raft_index bigint      NOT NULL,
    at         timestamptz NOT NULL,
    run_id     uuid        NOT NULL,
    from_state text        NOT NULL,
    to_state   text        NOT NULL,
    trigger    text        NOT NULL,
    cause      text        NOT NULL,
    code       text,
    forced     boolean     NOT NULL,
    reason     text,
    PRIMARY KEY (cluster_id, bus_seq)
);
CREATE INDEX run_transitions_by_run ON run_transitions (cluster_id, run_id, bus_seq);

-- One row for each record of an agent that works for a run.
CREATE TABLE ledger (
    cluster_id text        NOT NULL,
    bus_seq    bigint      NOT NULL,
    run_id     uuid        NOT NULL,
    raft_index bigint      NOT NULL,
    at         timestamptz NOT NULL,
    agent_id   uuid        NOT NULL,
    kind       text        NOT NULL,
    tick       bigint,               -- null for one between ticks
    step       int,
    cause      bigint,               -- busSeq of the record that led to it; null for what an event did itself
    body       jsonb       NOT NULL, -- by kind
    PRIMARY KEY (cluster_id, bus_seq)
);
CREATE INDEX ledger_by_run ON ledger (cluster_id, run_id, bus_seq);
