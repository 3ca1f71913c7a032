/** The error codes of agents and of the command line. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const agentErrors = {
  E_AGENT_CLOSED: {
    forPrograms: true,
    meaning: 'The agent is shut down and takes no more input.',
    suggestion: 'Start the agent again.',
  },
  E_APPROVAL_CHANGED: {
    forPrograms: true,
    meaning: 'The arguments of a tool call are not the ones that were approved, so the tool was not run.',
    suggestion:
      'Register the layer that changes arguments outside the layer that asks for approval: swarm-wide, with a lower priority.',
  },
  E_APPROVAL_DENIED: {
    forPrograms: true,
    meaning: 'A person or a rule denied this tool call, or nobody approved to raise a budget.',
    suggestion: 'Do not repeat this call. Find another way, or ask the user.',
  },
  E_APPROVAL_EXPIRED: {
    forPrograms: true,
    meaning: 'Nobody approved this tool call in time.',
    suggestion: 'Tell the user what you wanted to do. They can ask for it again.',
  },
  E_APPROVAL_NOBODY: {
    forPrograms: true,
    meaning:
      'A tool call or a model call above a budget needs approval, but this agent runs where no person can be asked.',
    suggestion: 'Run the agent in a swarm (`gdn run`, `startSwarm`), or give `startAgent` an `approver`.',
  },
  E_APPROVAL_REQUEST: {
    forPrograms: true,
    meaning: 'A request for approval is malformed, or its arguments are too long for a person to judge.',
    suggestion: 'Correct the field that the message names.',
  },
  E_BUN_MISSING: {
    meaning: 'The `gdn` command found no Bun to run on, or could not start the Bun that it found.',
    suggestion:
      'Run `npm ci` (or install the packages again) without `--omit=optional` or `--no-optional`: Bun comes as an optional package.',
  },
  E_CANCELLED: {
    forPrograms: true,
    meaning: 'The turn or the command was cancelled on request.',
    suggestion: 'Send the input again to retry.',
  },
  E_CASSETTE_END: {
    meaning: 'The program called the model more often than the cassette has replies.',
    suggestion: 'Record the conversation again with `mode: record`.',
  },
  E_CASSETTE_FILE: {
    meaning: 'The file of a cassette is missing, cannot be written, or is damaged.',
    suggestion: 'Check `options.file`, or record again with `mode: record`.',
  },
  E_CASSETTE_MISMATCH: {
    meaning: 'A request differs from the request that the cassette recorded at this point.',
    suggestion: 'If the change is intended, delete the file and record again with `mode: record`.',
  },
  E_CURRENT_FOLDER: {
    meaning: 'The current folder was removed, or you do not have permission to enter it.',
    suggestion: 'Change to another folder and run the command there.',
  },
  E_EVENT_INVALID: {
    forPrograms: true,
    meaning: 'An event for an agent is malformed.',
    suggestion: 'Correct the field that the message names.',
  },
  E_EXT_COMPAT: {
    meaning: 'The extension was written for another version of the extension API.',
    suggestion:
      'Declare `apiVersion: goondan.ai/v1`, and use the member that the message names instead of the removed member. An extension for v0.10 runs unchanged with `compat: v010`.',
  },
  E_EXT_CONFIG: {
    meaning: "The extension's config does not fit its schema, or the extension rejected the config.",
    suggestion: 'Correct the value that the message names.',
  },
  E_EXT_INIT: {
    meaning: "The extension's `register` threw.",
    suggestion:
      'Correct `register` at the place that the message names. If the swarm is running, run `gdn reload`; if not, start it with `gdn run`.',
  },
  E_EXT_LOAD: {
    meaning:
      'The extension module cannot be loaded: the file is missing, does not parse, imports something that is missing, or does not export `register`.',
    suggestion:
      'Correct the file at the place that the message names. The file must be at `spec.entry` and export a function named `register`.',
  },
  E_EXT_MIDDLEWARE: {
    meaning: 'A layer of an extension threw an error that has no code of its own.',
    suggestion: 'Correct the extension that the message names; the text of the message comes from that extension.',
  },
  E_INTERRUPTED: {
    forPrograms: true,
    meaning:
      'The agent crashed during this tool call, or was stopped while the call waited for a person. The call may or may not have taken effect, so it was not repeated.',
    suggestion:
      'Check the outcome, then call again if needed. For a tool of your own, declare `idempotent: true` if repeating is safe, or `effects: none` if it changes nothing; the server of an MCP tool declares `idempotentHint`.',
  },
  E_MCP_CALL: {
    meaning: 'An MCP server refused a request, answered with a protocol error, or sent more than is read.',
    suggestion: "Read the server's message; check the arguments, and the credentials in `headers` or `env`.",
  },
  E_MCP_CONNECT: {
    meaning: 'An MCP server could not be started or reached, or the connection to it was lost.',
    suggestion:
      'Check the command or the URL of the server; `gdn logs --level debug` shows its output. The agent reconnects by itself, and with the next call.',
  },
  E_MCP_DECLINED: {
    meaning: 'A call needs a page that a person must open, and the person declined, or did not answer in time.',
    suggestion: 'Ask the person why, or do without the call.',
  },
  E_MCP_EXISTS: {
    meaning: 'The `.mcp.json` of the bundle already has a server with that name.',
    suggestion: 'Choose another name, or overwrite the server with `--force`.',
  },
  E_MCP_FILE: {
    meaning: 'A `.mcp.json` or `.mcp.lock.json` is missing, malformed, or does not list the server.',
    suggestion: 'Correct the field that the message names; `gdn mcp add` and `gdn mcp approve` write these files.',
  },
  E_MCP_KEPT: {
    meaning: 'The swarm already keeps as many MCP connections as `policy.maxKept` allows.',
    suggestion:
      'Raise `policy.maxKept` of the swarm, share a connection with `scope: agent`, or delete conversations that are no longer needed. The conversation then gets its connection in one of its next turns.',
  },
  E_MCP_QUESTION: {
    meaning:
      'An MCP server asked a person in a way that is not allowed: outside of a call, while several calls were open, too often, or with a form or a page that people cannot be shown.',
    suggestion:
      'Read the message. If several calls were open, make them one after the other, or connect the server over HTTP. Tell the author of the server about anything else.',
  },
  E_MCP_SIGN_IN: {
    meaning: 'An MCP server needs a person to sign in, or signing in failed.',
    suggestion: 'Run `gdn mcp login NAME`. The next call of the agent then uses the new sign-in, without a restart.',
  },
  E_MCP_TIMEOUT: {
    meaning: 'An MCP server did not answer in time.',
    suggestion: 'Raise `timeouts` in the config of the extension, or find out what keeps the server busy.',
  },
  E_MCP_TOKENS: {
    meaning: 'The file with the sign-in of an MCP server is damaged, readable for others, or cannot be written.',
    suggestion: 'Run `gdn mcp login NAME`, which replaces the file, and make the state root writable.',
  },
  E_MCP_TOOL: {
    meaning: 'A tool of an MCP server ran and reported an error.',
    suggestion: 'Read the message of the tool, and call the tool with other arguments if that helps.',
  },
  E_MCP_TOOL_CHANGED: {
    meaning: 'A tool of an MCP server is withheld because it changed since it was first seen or approved.',
    suggestion: 'Review the change, then approve it with `gdn mcp approve`.',
  },
  E_MCP_TOOL_GONE: {
    meaning: 'The MCP server no longer has this tool.',
    suggestion: 'Use one of the tools that are still offered.',
  },
  E_MCP_UNKNOWN: {
    meaning: 'The bundle has no MCP server with that name, or the server has no such tool.',
    suggestion: '`gdn mcp list` lists the servers, and `gdn mcp test NAME` lists the tools of a server.',
  },
  E_MCP_UNSUPPORTED: {
    meaning: 'An MCP server asked for something that servers do not get, such as a call of the model (sampling).',
    suggestion: 'Use a tool of the server that does not need it. The log of the server names the request.',
  },
  E_MCP_VARIABLE: {
    meaning: 'The description of an MCP server names a variable that is not set.',
    suggestion:
      "Declare the variable in the agent's `environment`, because the agent's process sees only declared variables. Or write a default: `${NAME:-otherwise}`.",
  },
  E_MESSAGE_DUPLICATE: {
    forPrograms: true,
    meaning: 'A message event appends a message with an id that is already in use.',
    suggestion: 'Give the new message its own id, or emit `replace`.',
  },
  E_MESSAGE_INVALID: {
    meaning: 'A message event, or the message in it, is malformed.',
    suggestion: 'Build messages with createSystemMessage, createUserMessage or createAssistantMessage.',
  },
  E_METADATA_NOT_JSON: {
    meaning: '`ctx.metadata` holds a value that is not JSON, so the turn could not be recorded.',
    suggestion: 'Keep functions, dates and class instances in your own variables.',
  },
  E_MIDDLEWARE_RESULT: {
    meaning: 'A layer returned a value that is not a result of its kind.',
    suggestion: 'Return the result of `next()`, or an object of the same shape.',
  },
  E_MIDDLEWARE_TIMEOUT: {
    meaning: "A layer's own code ran past its `timeoutMs`.",
    suggestion:
      'Make the layer faster, raise `timeoutMs`, or set `onError: "skip"` if the turn may continue without this layer.',
  },
  E_NEXT_LATE: {
    meaning: 'A layer called `next()` after it had already returned.',
    suggestion: 'Call and await `next()` before returning.',
  },
  E_NEXT_NOT_AWAITED: {
    meaning: 'A layer returned before its `next()` had finished.',
    suggestion: 'Write `await ctx.next()`, or `return ctx.next()`.',
  },
  E_NEXT_TWICE: {
    meaning: 'A layer called `next()` more than once.',
    suggestion: 'To try a step again, throw an error with `retryable: true`: the runtime runs another step.',
  },
  E_OUTPUT_FILE: {
    meaning: 'The output file exists already or cannot be written. Nothing was changed.',
    suggestion: 'Name another file, in a folder that you may write to.',
  },
  E_OUTPUT_INVALID: {
    forPrograms: true,
    meaning: 'The schema that an answer must fit cannot be used.',
    suggestion: 'Correct the part of the schema that the message names. Keywords of JSON Schema draft 7 are known.',
  },
  E_OUTPUT_SCHEMA: {
    forPrograms: true,
    meaning: 'The model did not give an answer that fits the demanded schema, also after its retries.',
    suggestion:
      'Read the problems in the message. Explain the fields in the schema or the prompt, or raise `output.retries`.',
  },
  E_PATH_OUTSIDE: {
    meaning: 'A path in a resource leads out of its bundle.',
    suggestion: 'Use a relative path to a file inside the bundle, without `..` and without links that lead out.',
  },
  E_PIPELINE_CLOSED: {
    meaning: "`pipeline.register` was called after the extension's `register` had finished.",
    suggestion: 'Register all layers before `register` returns, and await everything that `register` needs for them.',
  },
  E_PIPELINE_KIND: {
    meaning: 'There is no such kind of middleware.',
    suggestion: 'Use `turn`, `step`, `toolCall`, or the extra kind `model`.',
  },
  E_PIPELINE_OPTIONS: {
    meaning: 'The middleware is not a function, or one of its options is invalid.',
    suggestion: 'Pass a function, or correct the option that the message names.',
  },
  E_REPLY_TRUNCATED: {
    meaning: "The model's reply reached its token limit in the middle of a tool call, so the call was not run.",
    suggestion: 'Call again with shorter arguments, or in several calls. `params.maxTokens` sets the limit.',
  },
  E_RESOURCE_INVALID: {
    meaning: 'A resource is malformed.',
    suggestion: 'Correct the field that the message names.',
  },
  E_SCHEMA_SIZE: {
    meaning:
      'A JSON Schema is too large to compile after its `$ref`s are followed. A tool with such a schema is not offered.',
    suggestion: 'Make the schema smaller: fewer properties, fewer `$ref`s to large parts.',
  },
  E_STATE_NOT_JSON: {
    meaning: '`api.state.set` was called with a value that is not JSON.',
    suggestion: 'Keep plain objects, arrays, strings, finite numbers, booleans and null.',
  },
  E_STEP_FAILED: {
    meaning: "A step layer returned `status: 'failed'`.",
    suggestion: 'Look at the step that the message names: one of its layers ended the turn.',
  },
  E_STUDIO_BUSY: {
    meaning: 'Studio is reading too many conversations, or has too many streams open.',
    suggestion: 'Try again in a moment; close Studio pages that you do not need.',
  },
  E_STUDIO_FAILED: {
    meaning: 'Studio could not answer a request because of an unexpected error.',
    suggestion: 'The output of `gdn studio` has the reason.',
  },
  E_STUDIO_FORBIDDEN: {
    meaning: 'A request to Studio did not come from its own page, or had no token.',
    suggestion: 'Open the link that `gdn studio` printed.',
  },
  E_STUDIO_GONE: {
    meaning: 'Studio does not answer: `gdn studio` has ended, or the machine is asleep.',
    suggestion: 'Start `gdn studio` again and open the link it prints.',
  },
  E_STUDIO_PAGE: {
    meaning: "Studio's page is missing: it was not built, or the installation is incomplete.",
    suggestion: 'Run `npm run build` in the repository, or install @goondan/cli again.',
  },
  E_STUDIO_PORT: {
    meaning: 'Studio cannot listen on the port it was given.',
    suggestion: 'Choose another port with `--port`, or leave `--port` out to get a free one.',
  },
  E_STUDIO_REQUEST: {
    meaning: 'A request to Studio is malformed, too large, or for something that does not exist.',
    suggestion: 'Correct the part that the message names.',
  },
  E_TOOL_ARGUMENTS: {
    forPrograms: true,
    meaning: "The arguments of a tool call do not fit the tool's schema.",
    suggestion: 'Call again with arguments that fit.',
  },
  E_TOOL_CONFIG: {
    meaning: "The tool's config does not fit its schema.",
    suggestion: 'Correct the value that the message names.',
  },
  E_TOOL_DEPTH: {
    forPrograms: true,
    meaning: 'A layer called a tool inside a call of a layer, more than 8 deep, so the tool was not run.',
    suggestion: 'Call no tool from a `toolCall` layer while `ctx.callers` names its own extension.',
  },
  E_TOOL_FAILED: {
    forPrograms: true,
    meaning: 'The tool threw an error that has no code of its own.',
    suggestion: 'Read the message; try other arguments or another tool.',
  },
  E_TOOL_LOAD: {
    meaning:
      'A tool module cannot be loaded, lacks the handler of a declared export, exports no tool, or exports one with a missing or unsupported field.',
    suggestion:
      'Check `spec.entry`. Export `handlers` with one function for each declared export, or export tools of `defineTool` or the AI SDK.',
  },
  E_TOOL_NAME: {
    meaning:
      'The name of a tool does not have the form `{resource}__{export}`, or has too many characters: a registered tool may ' +
      'have 256 of any kind, a declared one 64 letters, digits, `_` and `-`, and `.` in the resource. Or a layer added an ' +
      'item to the tool catalog that has no name, or a name of more than 256 characters.',
    suggestion: 'Rename the tool, for example to `weather__get`.',
  },
  E_TOOL_NOT_OFFERED: {
    forPrograms: true,
    meaning:
      'The tool exists but is not in the catalog of this step. Or a `toolCall` layer called a tool for other agents, such as `agents__request`: only `turn` and `step` layers can call agents.',
    suggestion: 'Use one of the tools offered in this step.',
  },
  E_TOOL_OUTPUT: {
    meaning: 'The tool returned a value that is not JSON.',
    suggestion: 'Return plain objects, arrays, strings, finite numbers, booleans or null.',
  },
  E_TOOL_SCHEMA: {
    meaning:
      "A tool's `parameters` are not a JSON Schema, or a tool has an unknown field, such as `inputSchema` in place of `parameters`.",
    suggestion: 'Correct the schema; `{ "type": "object", "properties": {} }` is the smallest one.',
  },
  E_TOOL_TAKEN: {
    meaning: 'An extension tried to register a tool under the name of a declared tool.',
    suggestion: "Use a name that starts with the extension's own name.",
  },
  E_TOOL_TIMEOUT: {
    forPrograms: true,
    meaning: 'The tool exceeded its deadline and was aborted.',
    suggestion: 'Ask for less at once, or raise the deadline.',
  },
  E_TOOL_UNKNOWN: {
    forPrograms: true,
    meaning: 'There is no tool with this name.',
    suggestion: 'Use one of the tools offered in this step.',
  },
  E_TURN_ENDED: {
    forPrograms: true,
    meaning: 'Code tried to change a conversation after its turn had ended.',
    suggestion: 'Emit events before the layer returns, and await everything that the layer starts.',
  },
  E_TURN_TIMEOUT: {
    forPrograms: true,
    meaning: 'The turn ran past its deadline.',
    suggestion: 'Split the work, or raise the deadline.',
  },
  E_TURN_TOKENS: {
    forPrograms: true,
    meaning: 'The turn used more tokens than `policy.maxTokensPerTurn` allows.',
    suggestion: 'Raise the limit, or make the agent do less in one turn.',
  },
  E_UNEXPECTED: {
    meaning: 'An unexpected error: a bug in `gdn`, or trouble with the system.',
    suggestion: 'Run the command again with `GOONDAN_DEBUG=1` to see the stack, and report the error.',
  },
  E_UNTRUSTED: {
    forPrograms: true,
    meaning: 'You have not trusted the code of this bundle yet.',
    suggestion:
      'Review the code. Then run it with `--trust`, or from a terminal, where `gdn` asks and remembers your answer.',
  },
  E_USAGE: {
    meaning: '`gdn` does not know this command, option or value.',
    suggestion: 'See the options of the command with `--help`.',
  },
} as const satisfies Record<string, CatalogueEntry>;
