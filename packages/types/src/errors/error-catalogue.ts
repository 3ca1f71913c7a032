/**
 * Every error code Goondan reports, once. `docs/errors.md` is generated from this file and a test keeps them together.
 * Codes are never renamed: people search for them and programs branch on them.
 */

interface CatalogueEntry {
  /** When it is reported. */
  readonly meaning: string;
  /** What the reader should do. */
  readonly suggestion: string;
}

export const errorCatalogue = {
  E_AGENT_CLOSED: {
    meaning: 'The agent is shut down and takes no more input.',
    suggestion: 'Start it again.',
  },
  E_AGENT_CYCLE: {
    meaning: 'A request would reach an agent instance that is already waiting in the same chain of requests.',
    suggestion: 'Use `send`, which does not wait, or another instanceKey.',
  },
  E_AGENT_DEADLOCK: {
    meaning: 'A request would wait for an agent instance that, through the queues of others, waits for the asking one.',
    suggestion: 'Use `send`, which does not wait, or another instanceKey; or ask again when the other turn is over.',
  },
  E_AGENT_DEPTH: {
    meaning: 'A request is nested too deeply in other requests.',
    suggestion: 'Let an agent closer to the start of the chain ask, or use `send`.',
  },
  E_AGENT_FAILED: {
    meaning: "The called agent's turn ended in an error.",
    suggestion: "Read the message: it carries the called agent's own error.",
  },
  E_AGENT_REQUEST: {
    meaning: 'A request or send to another agent has a parameter that is not what it should be.',
    suggestion: 'Correct the parameter the message names.',
  },
  E_AGENT_START: {
    meaning: "The agent's process ended, or ran out of time, before it was ready.",
    suggestion: "Look at the agent's log: one of its tools or extensions ends the process, or never finishes loading.",
  },
  E_AGENT_TIMEOUT: {
    meaning: 'The called agent did not answer in time.',
    suggestion: 'Raise `timeoutMs` for this request, or look at what the called agent is doing.',
  },
  E_AGENT_UNKNOWN: {
    meaning: 'The target of a request or send is not an agent of this swarm.',
    suggestion: 'Use one of the names the message lists.',
  },
  E_BUN_MISSING: {
    meaning: 'The `gdn` command found no Bun to run on, or could not start the one it found.',
    suggestion:
      'Run `npm ci` (or install @goondan/cli again) without `--omit=optional`: Bun comes as an optional package.',
  },
  E_CALLS_FULL: {
    meaning: 'As many requests and sends between agents are under way as may be.',
    suggestion: 'Wait for some of them to end before asking for more.',
  },
  E_CANCELLED: {
    meaning: 'The turn was cancelled.',
    suggestion: 'Nothing is wrong: somebody asked for it. Send the input again to start over.',
  },
  E_CASSETTE_END: {
    meaning: 'The program asked the model more often than the cassette has recorded replies.',
    suggestion: 'Record the conversation again with `mode: record`.',
  },
  E_CASSETTE_FILE: {
    meaning: 'The file of a cassette is missing, cannot be written, or is damaged.',
    suggestion: 'Check `options.file`, or record again with `mode: record`.',
  },
  E_CASSETTE_MISMATCH: {
    meaning: 'A request differs from the one the cassette recorded at this place.',
    suggestion: 'If the change is wanted, delete the file and record again with `mode: record`.',
  },
  E_CONNECTOR_ENDED: {
    meaning: 'A connector failed, or its process ended, while it listened. It is started again.',
    suggestion: "Look at the connection's log: an error nobody caught, or something that ends or blocks the process.",
  },
  E_CONNECTOR_EVENT: {
    meaning: 'A connector emitted an event that is malformed, or not one of those it declares.',
    suggestion: 'Correct the field the message names, or add the event to `spec.events` of the Connector.',
  },
  E_CONNECTOR_LOAD: {
    meaning:
      'A connector module cannot be loaded: no such file, it does not parse, or its default export is no function.',
    suggestion: 'Check `spec.entry`, and write `export default async function (ctx) { … }`.',
  },
  E_CONNECTOR_START: {
    meaning: 'A connector failed, or its process ended or ran out of time, before it listened. It is started again.',
    suggestion: "Look at the message and at the connection's log: often a port is taken, or a secret is missing.",
  },
  E_CONTROL_ANSWER: {
    meaning: "A swarm's control socket answered something this version does not understand.",
    suggestion: 'Use the version of Goondan that runs the swarm, or a newer one.',
  },
  E_CONTROL_CLOSED: {
    meaning: 'No swarm is running for the workspace, or it went away while it was asked.',
    suggestion: 'Start the swarm and ask again. What was accepted is on disk and is taken up when it starts.',
  },
  E_CONTROL_ENDPOINT: {
    meaning: 'The control socket has no such endpoint, or has it under another method.',
    suggestion: 'Use an endpoint of docs/control-socket.md.',
  },
  E_CONTROL_FAILED: {
    meaning: 'The orchestrator could not carry out what its control socket was asked for.',
    suggestion: "Look at the swarm's log: it has the reason.",
  },
  E_CONTROL_FULL: {
    meaning: 'As many streams and waiting questions are open on the control socket as may be.',
    suggestion: 'Close some of them, or try again later.',
  },
  E_CONTROL_PATH: {
    meaning: 'The place of the control socket is not safe, or something else stands there.',
    suggestion: 'Move away what the message names, or choose another state root.',
  },
  E_CONTROL_REQUEST: {
    meaning: 'A request to the control socket is malformed or too large.',
    suggestion: 'Correct the field the message names.',
  },
  E_CONTROL_SILENT: {
    meaning: 'The swarm is there, but its control socket says nothing any more.',
    suggestion: 'Find out what its orchestrator is doing: it is stopped, or the machine is overloaded.',
  },
  E_CONTROL_VERSION: {
    meaning: 'The control socket does not speak this version of the protocol.',
    suggestion: 'Use the version of Goondan that runs the swarm.',
  },
  E_DEAD_LETTER: {
    meaning: 'Handling this event crashed the agent again and again, so it was put aside.',
    suggestion: 'Find the cause of the crashes, then retry the event from the dead letters, or drop it.',
  },
  E_DISK_FULL: {
    meaning: 'The disk, or the quota, of the state folder is full; nothing half-written was kept.',
    suggestion: 'Free some space; what was accepted before is still there.',
  },
  E_EVENT_INVALID: {
    meaning: 'An event for an agent is malformed.',
    suggestion: 'Correct the field the message names.',
  },
  E_EXT_COMPAT: {
    meaning: 'The extension was written for another version of the extension API.',
    suggestion: 'Declare `apiVersion: goondan.ai/v1` and use what the message names instead of the removed member.',
  },
  E_EXT_CONFIG: {
    meaning: "The extension's config does not fit its schema, or the extension refused it.",
    suggestion: 'Correct the value the message names.',
  },
  E_EXT_INIT: {
    meaning: "The extension's `register` threw.",
    suggestion: 'Read the cause: it is the error that `register` threw.',
  },
  E_EXT_LOAD: {
    meaning: 'The extension module cannot be loaded: no such file, it does not parse, or it exports no `register`.',
    suggestion: 'Check `spec.entry`, and export a function named `register`.',
  },
  E_EXT_MIDDLEWARE: {
    meaning: 'A layer of an extension threw an error that has no code of its own.',
    suggestion: 'Look at the named extension; the message is its own.',
  },
  E_FENCED: {
    meaning: 'Another process took over this agent instance while this one was still writing.',
    suggestion: 'Nothing was overwritten. Let the newer process go on.',
  },
  E_INBOX_FULL: {
    meaning: 'The agent instance has too much input waiting, so this one was not accepted.',
    suggestion: 'Send it again later, or find out why the agent does not keep up.',
  },
  E_INGRESS_KEY: {
    meaning: 'The ingress rule that fits an event takes the instance key from a property the event does not have.',
    suggestion:
      'Correct `instanceKeyProperty` of the rule, or let the connector set that property to a text or a number.',
  },
  E_INGRESS_RULE: {
    meaning: 'No ingress rule of the connection fits the event.',
    suggestion: 'Add a rule for it; a rule without `match` at the end of the list fits everything.',
  },
  E_INSTANCE_KEY: {
    meaning: 'An instance key is empty, too long, or not valid text.',
    suggestion: 'Use a key of 1 to 1024 characters.',
  },
  E_INTERRUPTED: {
    meaning: 'A crash left it unknown whether this tool call took effect, so it was not repeated.',
    suggestion: 'Check the outcome, then call again if needed. Declare `idempotent: true` if repeating is safe.',
  },
  E_IPC_CLOSED: {
    meaning: 'A message could not be sent because the process at the other end is gone.',
    suggestion: 'Nothing is wrong with the message: what was accepted is on disk and is taken up again.',
  },
  E_IPC_FRAME: {
    meaning: 'A message between two processes of a swarm is malformed, so it was refused.',
    suggestion: 'Look for code in a bundle that writes to the channel of its process; the message says what is wrong.',
  },
  E_IPC_FULL: {
    meaning: 'Too many messages wait for a process that does not read them, so one more was not taken.',
    suggestion: 'Wait for earlier ones before sending more, and find out why the process does not keep up.',
  },
  E_IPC_SIZE: {
    meaning: 'A message between two processes of a swarm is larger than allowed, so it was refused.',
    suggestion: 'Put what is large into a file and send its path.',
  },
  E_LOCKED: {
    meaning: 'Another running process is writing this agent instance.',
    suggestion: 'Stop the process the message names, or talk to the agent through it.',
  },
  E_MESSAGE_DUPLICATE: {
    meaning: 'A message event brings an id that a current message already has.',
    suggestion: 'Give the new message its own id, or emit `replace`.',
  },
  E_MESSAGE_INVALID: {
    meaning: 'A message event, or the message in it, is malformed.',
    suggestion: 'Build messages with createSystemMessage, createUserMessage or createAssistantMessage.',
  },
  E_METADATA_NOT_JSON: {
    meaning: '`ctx.metadata` holds something that is not JSON, so the turn could not be recorded.',
    suggestion: 'Keep functions, dates and class instances in variables of your own.',
  },
  E_MIDDLEWARE_RESULT: {
    meaning: 'A layer returned something that is not a result of its kind.',
    suggestion: 'Return what `next()` gave you, or an object of the same shape.',
  },
  E_MIDDLEWARE_TIMEOUT: {
    meaning: "A layer's own code ran past its `timeoutMs`.",
    suggestion: 'Make it faster, raise `timeoutMs`, or set `onError: "skip"` if the turn may go on without it.',
  },
  E_MODEL_AUTH: {
    meaning: 'The provider does not accept the key.',
    suggestion: 'Check the key the message names, and what it is allowed to use.',
  },
  E_MODEL_CONTEXT: {
    meaning: "The conversation does not fit into the model's context window.",
    suggestion: 'Shorten it (compaction, smaller tool results), or use a model with a larger window.',
  },
  E_MODEL_FAILED: {
    meaning: 'The model call failed.',
    suggestion: 'Read the message: it is what the provider said.',
  },
  E_MODEL_KEY: {
    meaning: 'The model has no API key.',
    suggestion: "Set the variable the message names, or the Model's `apiKey`.",
  },
  E_MODEL_NO_RULE: {
    meaning: 'No rule of the scripted model matches the newest message.',
    suggestion: 'Add a rule without `when` and `afterTool` at the end of the script: it always matches.',
  },
  E_MODEL_REPLY: {
    meaning: 'The model answered something that is not a reply.',
    suggestion: 'If this repeats, the provider or the endpoint speaks another format than the one configured.',
  },
  E_MODEL_REQUEST: {
    meaning: '`ctx.model.generate` got a request that is none.',
    suggestion: 'Pass `{ messages: [...] }`.',
  },
  E_MODEL_SCRIPT: {
    meaning: 'The script of a scripted model is malformed.',
    suggestion: 'Correct the rule the message names.',
  },
  E_MODEL_TIMEOUT: {
    meaning: 'The model was silent for too long, or the call took too long in all.',
    suggestion: 'Try again; if it repeats, look at the provider or the endpoint.',
  },
  E_MODEL_UNKNOWN: {
    meaning: 'A model reference names no model this agent has.',
    suggestion: 'Use one of the names the message lists.',
  },
  E_NEXT_LATE: {
    meaning: 'A layer called `next()` after it had already returned.',
    suggestion: 'Call and await `next()` before returning.',
  },
  E_NEXT_NOT_AWAITED: {
    meaning: 'A layer returned before the `next()` it had called was finished.',
    suggestion: 'Write `await ctx.next()`, or `return ctx.next()`.',
  },
  E_NEXT_TWICE: {
    meaning: 'A layer called `next()` more than once.',
    suggestion: 'To try a step again, throw an error with `retryable: true`: the runtime runs another step.',
  },
  E_OUTBOX_FULL: {
    meaning: 'The agent instance has as many undelivered answers as it may have.',
    suggestion: 'Find out why its answers are not fetched; no turn starts before some are.',
  },
  E_PATH_OUTSIDE: {
    meaning: 'A path in a resource leads out of its bundle.',
    suggestion: 'Use a relative path to a file inside the bundle, without `..` and without links that lead out.',
  },
  E_PIPELINE_CLOSED: {
    meaning: '`pipeline.register` was called after the `register` of that extension had settled.',
    suggestion: 'Register layers while `register` runs, and await what it needs.',
  },
  E_PIPELINE_KIND: {
    meaning: 'There is no such kind of middleware.',
    suggestion: 'Use `turn`, `step`, `toolCall`, or the extra kind `model`.',
  },
  E_PIPELINE_OPTIONS: {
    meaning: 'The middleware is not a function, or its options are not what they should be.',
    suggestion: 'Pass a function, and correct the option the message names.',
  },
  E_PROCESSES_FULL: {
    meaning: 'As many agent instances wait for a process as may, so input for one more was not accepted.',
    suggestion: 'Send it again later, or raise `policy.maxProcesses`.',
  },
  E_PROCESS_START: {
    meaning: 'A process of the swarm could not be started.',
    suggestion: 'Read the cause: usually a folder is missing, or the machine is out of processes or memory.',
  },
  E_RESOURCE_INVALID: {
    meaning: 'A resource is malformed.',
    suggestion: 'Correct the field the message names.',
  },
  E_STATE_NOT_JSON: {
    meaning: '`api.state.set` got something that is not JSON.',
    suggestion: 'Keep plain objects, arrays, strings, finite numbers, booleans and null.',
  },
  E_STEP_FAILED: {
    meaning: "A step layer returned `status: 'failed'`.",
    suggestion: 'Look at the named step: one of its layers decided that the turn must end.',
  },
  E_STORE_CORRUPT: {
    meaning: 'A file of an agent instance is damaged in a way no crash explains. Nothing was changed.',
    suggestion:
      'A copy of the damaged file is beside it. Restore it from a backup, or delete the instance to start over.',
  },
  E_STORE_FORMAT: {
    meaning: 'The state of an agent instance was written in a format this version does not know.',
    suggestion: 'Use the version of Goondan that wrote it, or a newer one.',
  },
  E_STORE_INSTANCE: {
    meaning: 'The folder of an agent instance holds the state of another one.',
    suggestion: 'Somebody renamed or copied the folder: put it back under its own name.',
  },
  E_STORE_ORDER: {
    meaning: 'A turn, or a record of one, was handed to the store out of its order.',
    suggestion: 'Handle the pending events in the order `pending` gives them, one turn at a time.',
  },
  E_STORE_READ: {
    meaning: 'A file of the state folder cannot be read.',
    suggestion: 'Look at the cause: permissions, or a failing disk. Nothing was changed.',
  },
  E_STORE_WRITE: {
    meaning: 'A file of the state folder cannot be written.',
    suggestion: 'Look at the cause: permissions, or a failing disk. What was accepted before is still there.',
  },
  E_SWARM_PLAN: {
    meaning: 'What a swarm should be started from contradicts itself or lacks something.',
    suggestion: 'Correct what the message names; it names everything at once.',
  },
  E_SWARM_RUNNING: {
    meaning: 'An orchestrator is running on this workspace already; there is one at a time.',
    suggestion: 'Talk to the one the message names, or stop it first. Another swarm needs a workspace of its own.',
  },
  E_SWARM_STOPPED: {
    meaning: 'The swarm is being stopped, or is stopped, and takes no more input.',
    suggestion: 'Start it again: what was accepted before is handled then.',
  },
  E_TOOL_ARGUMENTS: {
    meaning: "The arguments of a tool call do not fit the tool's schema.",
    suggestion: 'Call again with arguments that fit.',
  },
  E_TOOL_FAILED: {
    meaning: 'The tool threw an error that has no code of its own.',
    suggestion: 'Read the message; try other arguments or another way.',
  },
  E_TOOL_LOAD: {
    meaning: 'A tool module cannot be loaded, or lacks the handler of a declared export.',
    suggestion: 'Check `spec.entry`, and export `handlers` with one function for each export.',
  },
  E_TOOL_NAME: {
    meaning: 'A tool name is not `{resource}__{export}`, of at most 64 letters, digits, `_` and `-`.',
    suggestion: 'Rename it, for example `weather__get`.',
  },
  E_TOOL_NOT_OFFERED: {
    meaning: 'The tool exists but is not in the catalog of this step.',
    suggestion: 'Use one of the tools offered in this step.',
  },
  E_TOOL_OUTPUT: {
    meaning: 'The tool returned something that is not JSON.',
    suggestion: 'Return plain objects, arrays, strings, finite numbers, booleans or null.',
  },
  E_TOOL_SCHEMA: {
    meaning: "A tool's `parameters` are not a JSON Schema.",
    suggestion: 'Correct the schema; `{ "type": "object", "properties": {} }` is the smallest one.',
  },
  E_TOOL_TAKEN: {
    meaning: 'An extension tried to register a tool under the name of a declared one.',
    suggestion: "Use a name that starts with the extension's own name.",
  },
  E_TOOL_TIMEOUT: {
    meaning: 'The tool ran past its deadline and was told to stop.',
    suggestion: 'Ask for less at once, or raise the deadline.',
  },
  E_TOOL_UNKNOWN: {
    meaning: 'There is no tool of this name.',
    suggestion: 'Use one of the tools offered in this step.',
  },
  E_TURN_ENDED: {
    meaning: 'Something tried to change a conversation after its turn had ended.',
    suggestion: 'Emit events while the layer runs, and await everything it starts.',
  },
  E_TURN_FORGOTTEN: {
    meaning: 'An event was handled, and how its turn ended is no longer kept.',
    suggestion: 'Do not send the event again: look at the conversation for the answer, or ask anew under another id.',
  },
  E_TURN_TIMEOUT: {
    meaning: 'The turn ran past its deadline.',
    suggestion: 'Split the work, or raise the deadline.',
  },
  E_TURN_TOKENS: {
    meaning: 'The turn used more tokens than `policy.maxTokensPerTurn` allows.',
    suggestion: 'Raise the limit, or make the agent do less in one turn.',
  },
  E_USAGE: {
    meaning: 'The command line has a command, an option or a value that `gdn` does not know.',
    suggestion: 'Run it with `--help` to see what there is.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
