// Package schema compiles JSON Schemas (draft 2020-12) and holds values against
// them: arguments and results of tools, and what agents are started with.
//
// Compile once, and ask Broken for each value. What it says is in our words and
// never repeats a value, since it may enter the log (EV-13). Schemas come from
// anybody: nothing is fetched for one, and a check that could take long is not begun.
package schema
