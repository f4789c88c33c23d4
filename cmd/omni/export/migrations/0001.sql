-- One row for each cluster that is exported: the last record that was written.
CREATE TABLE positions (
    cluster_id text        PRIMARY KEY,
    kernel_id  text        NOT NULL,
    bus_seq    bigint      NOT NULL, -- of the last record; everything up to it is here
    raft_index bigint,               -- of its event; this and the next three tell whether the log is the same one
    term       bigint,
    kind       text,
    at         timestamptz,          -- kernel clock of its event
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE agents (
    cluster_id  text        NOT NULL,
    agent_id    uuid        NOT NULL,
    bus_seq     bigint      NOT NULL, -- of the record that defined it
    defined_at  timestamptz NOT NULL,
    name        text        NOT NULL,
    evaluator   text        NOT NULL,
    mode        text        NOT NULL,
    parent_id   uuid,                 -- who delegated to it; null for a root
    forked_from uuid,                 -- whose recorded point it started from
    forked_at   bigint,               -- … and the busSeq of that point
    state       text        NOT NULL,
    state_seq   bigint      NOT NULL, -- of the record that led to it
    state_at    timestamptz NOT NULL,
    code        text,                 -- why, if a failure was the reason
    PRIMARY KEY (cluster_id, agent_id)
);
CREATE UNIQUE INDEX agents_by_seq ON agents (cluster_id, bus_seq);
CREATE INDEX agents_by_state ON agents (cluster_id, state);
CREATE INDEX agents_by_parent ON agents (cluster_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE transitions (
    cluster_id text        NOT NULL,
    bus_seq    bigint      NOT NULL,
    raft_index bigint      NOT NULL,
    at         timestamptz NOT NULL,
    agent_id   uuid        NOT NULL,
    tick       bigint,               -- null for one between ticks
    from_state text        NOT NULL,
    to_state   text        NOT NULL,
    trigger    text        NOT NULL,
    caller     text        NOT NULL,
    code       text,
    class      text,
    reason     text,
    PRIMARY KEY (cluster_id, bus_seq)
);
CREATE INDEX transitions_by_agent ON transitions (cluster_id, agent_id, bus_seq);
CREATE INDEX transitions_by_time ON transitions (cluster_id, at);
