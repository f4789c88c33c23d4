package logaudit

// RuleID names a rule. The words are part of the command line's JSON.
type RuleID string

// The rules.
const (
	Chain       RuleID = "chain"
	Links       RuleID = "links"
	Form        RuleID = "form"
	Clock       RuleID = "clock"
	Identity    RuleID = "identity"
	Transition  RuleID = "transition"
	Caller      RuleID = "caller"
	Over        RuleID = "over"
	Tick        RuleID = "tick"
	Step        RuleID = "step"
	Unasked     RuleID = "unasked"
	Verdict     RuleID = "verdict"
	Escalation  RuleID = "escalation"
	Unjudged    RuleID = "unjudged"
	Authority   RuleID = "authority"
	Dispatch    RuleID = "dispatch"
	Result      RuleID = "result"
	Twice       RuleID = "twice"
	Attenuation RuleID = "attenuation"
	Tree        RuleID = "tree"
	Grants      RuleID = "grants"
	Fork        RuleID = "fork"
	Suspended   RuleID = "suspended"
	Budget      RuleID = "budget"
	Run         RuleID = "run"
	Version     RuleID = "version"
	LogSize     RuleID = "logsize"
	Principal   RuleID = "principal"
	Order       RuleID = "order"
)

// Rule is one thing that every log must keep to.
type Rule struct {
	ID       RuleID
	Sentence string // of docs/semantics.md, or of the specification's invariants
	Text     string
}

// Rules lists them all, in the order in which reports do.
var Rules = [...]Rule{
	{Chain, "LO-1", "blocks are whole, follow each other, and chain"},
	{Links, "LO-1", "a block leads to the one before it of each agent and run that it touches, and carries on their own chains; it touches the runs that its agents work for; tree heads and restored backups are those of the log"},
	{Form, "EV-3", "a block begins with its event, and every record is of a known kind and reads whole"},
	{Clock, "EV-6", "kernel time is the greatest wall time of any event so far"},
	{Identity, "EV-10", "agents are numbered densely, and defined before anything else of theirs"},
	{Transition, "LC-1", "every transition is a row of the table, and starts where the last one ended"},
	{Caller, "LC-3", "whoever causes a transition may cause that row"},
	{Over, "INV-09", "a TERMINATED agent does nothing more"},
	{Tick, "EX-1", "ticks start and end once each, in order, while their agent may run"},
	{Step, "EX-7", "steps are recorded within their tick, numbered through, and bounded"},
	{Unasked, "PE-6", "what is judged, or answered, was asked for by a tick, and a tool is registered as a client asked"},
	{Verdict, "PE-2", "an ALLOW or a DENY is what the grants in force at that moment say, ancestors' included"},
	{Escalation, "PE-3", "a request that grants escalate waits for a decision, bound to the exact call"},
	{Unjudged, "TO-3", "nothing is done without an ALLOW for it before it"},
	{Authority, "TO-5", "nothing is done on a token, or under grants, that are not in force any more"},
	{Dispatch, "TO-4", "a call is requested once, and dispatched once, after its request"},
	{Result, "INV-14", "a tick sees a result after its record, and the result that was recorded"},
	{Twice, "INV-19", "a call has one answer, and it is delivered once"},
	{Attenuation, "DE-1", "a child's token is contained in its parent's: grants, depth, time"},
	{Tree, "INV-08", "an agent has one token and one parent, which asked for it"},
	{Grants, "LC-10", "grants are those of the token, and a revocation takes away and never gives"},
	{Fork, "LO-13", "a fork starts from the end of an event of an agent that was there, and names that agent's own chain value there"},
	{Suspended, "NO-2", "while the kernel is suspended no tick starts, no deadline rings and no call is dispatched; it is suspended and resumed by turns"},
	{Budget, "RU-5", "nothing is reserved beyond a limit; a reservation is settled once, at what the tool reported, or what the call declared, or nothing if it was not made; time that is limited runs while its agent is at work, and only then"},
	{Run, "RU-1", "every transition of a run is an edge of its table, and starts where the last one ended; its tasks run in order, once each"},
	{Version, "EV-9", "the kernel version rises by one at a time, and never falls; there is no record, and no event that was not refused, of a kind that came with a later one"},
	{LogSize, "LS-2", "from kernel version 2 on it is on record, once each, that an agent's part of the log has come to a limit, the warning first; from the second on its ticks fail, and it takes nothing in"},
	{Principal, "AU-3", "where callers are judged, every command comes with a credential that is in force, of a principal that there is, or is refused, and no other is; who may do what is changed as a command asked"},
	{Order, "AU-10", "an order of an operator is on record as its event gives it, and as that one's who gave it"},
}

// RuleOf finds a rule by its name.
func RuleOf(id RuleID) (Rule, bool) {
	for _, r := range Rules {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
