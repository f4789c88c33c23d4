// Package expr is the expression language of programs: what stands between
// ${ and } in the data of an instruction. One committed expression runs on
// every replica, so it must give the same answer everywhere and must not be
// able to exhaust any of them (EX-10, EX-11, EV-13).
//
// # Who calls it, in which order
//
// A program's evaluator compiles every template of the program once, with
// CompileTemplate, and keeps the result as a cache by the program's digest.
// For each instruction it makes or resets a Meter, calls Template.Eval with an
// Env that knows the program's names, and turns what leaves into bytes with
// AppendRaw. Values come in with FromRaw. Expr is the same for one expression
// without data around it. Where an evaluator makes values itself, it uses
// NewList and NewMap.
//
// # How it is bounded
//
// The source is scanned without recursion (lex.go), parsed by go.starlark.net,
// and its syntax tree rewritten into nodes of this package (compile.go); only
// nodes run. Starlark's interpreter, its operators and its library do not.
// Each node is one step, and every operator, function and method charges the
// Meter before it allocates and before it loops. Lists and maps carry the size
// and depth of their written-out form, so that sharing cannot hide growth.
//
//	source of one expression              4,096 bytes
//	syntax tree, left spines included     depth 200
//	brackets open at once                 50
//	one text, list or map built           65,536 bytes in canonical encoding
//	lists and maps inside each other      64
//	an integer inside an expression       4,096 bits
//	an integer that leaves                2^53 away from zero
//	one evaluation                        the Meter's steps and bytes
//
// Values from outside may be larger than 65,536 bytes; they can be looked into
// and handed on, but nothing of that size is built.
//
// A value beyond a bound, and an evaluation beyond the Meter's bytes, is
// VALUE_TOO_LARGE; one beyond the Meter's steps is WORK_EXCEEDED; everything
// else that goes wrong is EVAL_FAILURE, and a panic is EVAL_PANIC. What cannot
// be compiled is refused with INVALID_PROGRAM.
//
// # Charges
//
// Steps: 1 for each node that is evaluated and each item of a comprehension;
// then for what an operation does 1 for each 64 bytes that it scans, compares
// or copies, 1 for each 8 items that it visits, n log2(n) visits for putting n
// items in order, 1 for each replacement in a format. Bytes: 16 for each slot
// of a list, 32 for each member of a map, 48 for a container's head, 16 and
// its length for a text, three times a slot for what a comprehension or a
// split collects, the buffers of formatting and JSON, and about four times the
// operands' size for an integer beyond 64 bits. Meter.Work is steps + bytes/64.
//
// # The language
//
// Expressions of Starlark, over the JSON data model.
//
//	values      None True False (or null true false), integers, floats, text
//	            in any of Starlark's quotes, [lists], {"key": value} maps
//	names       what the Env knows, and the variables of comprehensions
//	operators   or and not, == != < <= > >= in not in, | ^ & << >>,
//	            + - * / // %, unary - + ~, x if c else y
//	access      x.name and x["name"] of a map, x[i] and x[a:b:c] of a list or
//	            a text, negative indexes from the end
//	loops       [f for x in xs if c], {k: v for k, v in m.items()}
//	functions   abs all any bool dict enumerate float int json_decode
//	            json_encode len list max min range reversed sorted str sum
//	            type zip
//	of text     capitalize count endswith find format index isalnum isalpha
//	            isdigit islower isspace isupper join lower lstrip partition
//	            removeprefix removesuffix replace rfind rpartition rstrip
//	            split splitlines startswith strip title upper
//	of lists    count index
//	of maps     get items keys values
//
// Not there: lambda, def, assignment, load, bytes, sets, **, comments, *args,
// methods that change their receiver, output, time, randomness, mathematics.
//
// Where it differs from Starlark, the data model is the reason:
//
//   - A number is an integer when it is integral and at most 2^53 away from
//     zero: 4 / 2 is 2, and type(2.0) is "int".
//   - A tuple is a list, also from enumerate, zip, items and partition. range
//     is a list. Only "%s %s" % (a, b), written out, takes the parts of a
//     tuple one by one.
//   - A map's keys are text. Every map is in canonical order (shorter keys
//     first, then bytewise), however it was made: a value behaves the same
//     before and after it was stored.
//   - A . that no call follows is always a member: x.items is the member
//     "items", x.items() the method. A missing member is a failure;
//     x.get("name", default) asks first.
//   - Functions are no values. Their names do not collide with variables: a
//     variable named len does not hide len(…).
//   - len, indexes and find count code points of text. Text is not gone over;
//     split it.
//   - Letters have case, and white space is white, in ASCII only. splitlines
//     also cuts at \r, and strip("") strips nothing.
//   - str(x), %s and {} write text as it is and everything else as JSON: true,
//     null, {"a":1}. %r, {!r} and json_encode quote text too.
//   - Formats know %s %r %d %x %X %o %f %.Nf %% and {} {0} {name} with !r, :d,
//     :x and :.Nf.
//   - sorted takes key="name", a member of the maps that it sorts. Booleans,
//     numbers, texts and lists have an order, others have none.
//   - Equality is structural; a number equals no boolean.
//
// # What it never does
//
// It never reads a clock, a random source, or anything outside of its Env. It
// never iterates a Go map, asks a Unicode table, or repeats a library's words.
// It never changes a value. It never recurses deeper than the bounds above.
package expr
