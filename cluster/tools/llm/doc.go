// Package llm makes registered tools that ask a language model: one request to a
// service with the chat completions protocol of OpenAI, which many others speak too
// (TO-16).
//
// cmd/omni puts its Kind into the node's registry. A manifest says which service and
// which model, how many tokens an answer may have, and what they cost; a call brings
// the conversation, and the tools that the model may ask for. The result is the
// model's message. What it asks for is not called here: an agent reads it, decides,
// and makes calls of its own, each of which is judged.
//
// It sends through httprequest.Sender, by whose rules it reaches the service. It
// never repeats what a service said in a message, streams nothing, and counts no
// tokens: what a call came to is what the service says.
package llm
