/** The error codes of swarms and their processes. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const swarmErrors = {
  E_AGENT_CYCLE: {
    forPrograms: true,
    meaning: 'A request would reach an agent instance that is already waiting in the same chain of requests.',
    suggestion: 'Use `send`, which does not wait, or another instanceKey.',
  },
  E_AGENT_DEADLOCK: {
    forPrograms: true,
    meaning:
      'A request would wait for an agent instance that is itself waiting, through other queues, for the instance that makes the request.',
    suggestion:
      'Use `send`, which does not wait, or another instanceKey. Or repeat the request when the other turn is over.',
  },
  E_AGENT_DEPTH: {
    forPrograms: true,
    meaning: 'A request is nested too deeply in other requests.',
    suggestion: 'Let an agent nearer to the start of the chain make the request, or use `send`.',
  },
  E_AGENT_FAILED: {
    forPrograms: true,
    meaning: "The called agent's turn ended in an error.",
    suggestion: "Read the message: it contains the called agent's own error.",
  },
  E_AGENT_NOT_ALLOWED: {
    forPrograms: true,
    meaning: 'The target of a request or send is not in `mayAsk` of the agent that asks.',
    suggestion: 'Ask an agent that the message lists, or add the target to `spec.mayAsk` of the asking agent.',
  },
  E_AGENT_REQUEST: {
    meaning: 'A request or send to another agent has an invalid parameter.',
    suggestion: 'Correct the parameter that the message names.',
  },
  E_AGENT_START: {
    forPrograms: true,
    meaning: "The agent's process ended, or ran out of time, before it was ready.",
    suggestion:
      "Look at the agent's log: one of its tools or extensions ends the process, or takes longer than `policy.startTimeoutMs` to load.",
  },
  E_AGENT_TIMEOUT: {
    forPrograms: true,
    meaning: 'The called agent did not begin its turn in time, or did not answer in time.',
    suggestion: 'Raise the limit that the message names, or look at what the called agent is doing.',
  },
  E_AGENT_UNKNOWN: {
    forPrograms: true,
    meaning: 'The target of a request or send is not an agent of this swarm.',
    suggestion: 'Use one of the names that the message lists.',
  },
  E_APPROVALS_FULL: {
    forPrograms: true,
    meaning: 'Too many questions are waiting for approval.',
    suggestion: 'Answer some of them (`gdn approve`, `gdn deny`), then try again.',
  },
  E_APPROVAL_BELOW_AGENT: {
    meaning: 'A program started by an agent tried to approve or deny a question. Only a person may do that.',
    suggestion: 'Run the command in your own terminal.',
  },
  E_CALLS_FULL: {
    forPrograms: true,
    meaning: 'Too many requests, sends and connector calls are in progress.',
    suggestion: 'Wait for some of them to end before you start more.',
  },
  E_CONNECTOR_CONFIG: {
    meaning: "The config of a connection does not fit its connector's schema, or a secret is missing.",
    suggestion: 'Correct the field that the message names, in `spec.config` or `spec.secrets` of the Connection.',
  },
  E_CONNECTOR_ENDED: {
    meaning: 'A running connector failed, or its process exited. The connector is restarted.',
    suggestion:
      "Look at the connection's log: the cause is an uncaught error, or code that ends or blocks the process.",
  },
  E_CONNECTOR_EVENT: {
    forPrograms: true,
    meaning: 'A connector emitted an event that is malformed, has an unknown field, or is not declared.',
    suggestion: 'Correct the field that the message names, or add the event to `spec.events` of the Connector.',
  },
  E_CONNECTOR_LOAD: {
    meaning:
      'A connector module cannot be loaded: the file is missing, does not parse, imports something that is missing, or its default export is not a function.',
    suggestion: 'Check `spec.entry`, and write `export default async function (ctx) { … }`.',
  },
  E_CONNECTOR_START: {
    meaning: 'A connector failed, exited or timed out before it was listening. It is restarted.',
    suggestion: "Look at the message and at the connection's log. Often a port is taken or a secret is missing.",
  },
  E_CONTROL_ANSWER: {
    forPrograms: true,
    meaning: 'This version does not understand an answer of the control socket.',
    suggestion: 'Use the version of Goondan that runs the swarm, or a newer version.',
  },
  E_CONTROL_CLOSED: {
    forPrograms: true,
    meaning: 'No swarm is running in this workspace, or the swarm stopped before it answered.',
    suggestion: 'Start the swarm and ask again. Accepted inputs are on disk and are handled when the swarm starts.',
  },
  E_CONTROL_ENDPOINT: {
    meaning: 'The control socket has no such endpoint, or the endpoint does not support this method.',
    suggestion: 'Use an endpoint of docs/control-socket.md.',
  },
  E_CONTROL_FAILED: {
    meaning: 'The orchestrator could not carry out a request to its control socket.',
    suggestion: "The reason is in the swarm's log.",
  },
  E_CONTROL_FULL: {
    forPrograms: true,
    meaning: 'The control socket has too many open streams and waiting requests.',
    suggestion: 'Close some of them, or try again later.',
  },
  E_CONTROL_PATH: {
    meaning: 'The path of the control socket is not safe, or another file is at that path.',
    suggestion: 'Move the file that the message names, or choose another state root.',
  },
  E_CONTROL_REQUEST: {
    meaning: 'A request to the control socket is malformed or too large.',
    suggestion: 'Correct the field that the message names.',
  },
  E_CONTROL_SILENT: {
    forPrograms: true,
    meaning: 'The swarm is running, but its control socket does not answer.',
    suggestion: 'Look at the process of the orchestrator: it is suspended, or the machine is overloaded.',
  },
  E_CONTROL_VERSION: {
    forPrograms: true,
    meaning: 'The swarm was started by another version of Goondan, whose control socket uses another protocol.',
    suggestion:
      'Stop the swarm with the version that started it, or end its process, and start it again with this version. ' +
      'Its conversations and accepted inputs are kept.',
  },
  E_DEAD_LETTER_UNKNOWN: {
    forPrograms: true,
    meaning: 'There is no dead letter with this id.',
    suggestion: 'List the dead letters with `gdn deadletter list`.',
  },
  E_HTTP_AUTH: {
    meaning: 'A request to a connector has no token, or the wrong token.',
    suggestion: "Send `Authorization: Bearer …` with the token in the Connection's `secrets`.",
  },
  E_HTTP_BODY: {
    meaning: 'The body of a request to a connector is not valid.',
    suggestion: 'Correct the field that the message names.',
  },
  E_HTTP_FULL: {
    meaning: 'The connector is already handling as many requests as it is allowed to.',
    suggestion: 'Send the request again later, or raise `maxConcurrent` of the connection.',
  },
  E_HTTP_METHOD: {
    meaning: 'The connector does not support this method at this path.',
    suggestion: 'Use the method the message names.',
  },
  E_HTTP_ORIGIN: {
    meaning: 'The connector has no token, and the request came from a browser page or was addressed to another host.',
    suggestion: 'Give the connection a token instead of `insecure: true`.',
  },
  E_HTTP_PATH: {
    meaning: 'The connector has no such path.',
    suggestion: 'Check the address of the request, and `path` of the connection.',
  },
  E_HTTP_SIZE: {
    meaning: 'The body of a request to a connector is too long.',
    suggestion: 'Send less, or put large data where the agent can fetch it.',
  },
  E_HTTP_SLOW: {
    meaning: 'The body of a request to a connector did not arrive in time.',
    suggestion: 'Send the request again.',
  },
  E_HTTP_TIMEOUT: {
    meaning: 'The turn did not end within the time limit of the request.',
    suggestion: 'Ask again with the same id to get the answer, or raise `timeoutSeconds` of the connection.',
  },
  E_HTTP_TYPE: {
    meaning: 'The body of a request to a connector has the wrong content type.',
    suggestion: 'Send JSON, with `Content-Type: application/json`.',
  },
  E_INGRESS_KEY: {
    forPrograms: true,
    meaning: 'The ingress rule for this event takes the instance key from a property that the event does not have.',
    suggestion:
      'Correct `instanceKeyProperty` of the rule, or let the connector set that property to a string or a number.',
  },
  E_INGRESS_RULE: {
    forPrograms: true,
    meaning: 'No ingress rule of the connection matches the event.',
    suggestion: 'Add a rule for this event. A last rule without `match` matches everything.',
  },
  E_INSTANCE_DELETED: {
    forPrograms: true,
    meaning: 'The conversation was deleted before the input was handled.',
    suggestion: 'To handle the input in a new conversation, send it again.',
  },
  E_INSTANCE_EXISTS: {
    forPrograms: true,
    meaning: 'A conversation with this key exists already.',
    suggestion: 'Choose another key, or delete that conversation with `gdn instance delete`.',
  },
  E_INSTANCE_KEY: {
    meaning: 'An instance key is empty, too long, or not valid text.',
    suggestion: 'Use a key of 1 to 1024 characters.',
  },
  E_INSTANCE_PENDING: {
    forPrograms: true,
    meaning: 'The conversation was not deleted because it has accepted inputs that are not handled yet.',
    suggestion:
      'Let the swarm handle them first, or add `--force` to delete them too. If the conversation is damaged, the swarm cannot ' +
      'handle them: `gdn fork` continues with the intact messages in a new conversation.',
  },
  E_INSTANCE_UNKNOWN: {
    forPrograms: true,
    meaning: 'There is no such conversation.',
    suggestion: 'List the conversations with `gdn instance list`.',
  },
  E_IPC_CLOSED: {
    forPrograms: true,
    meaning: 'A message could not be sent because the receiving process has exited.',
    suggestion: 'You need not send accepted inputs again: they are on disk and will be handled.',
  },
  E_IPC_FRAME: {
    meaning: 'A message between two processes of a swarm is malformed and was rejected.',
    suggestion: 'Look for code in the bundle that writes to the IPC channel of its process.',
  },
  E_IPC_FULL: {
    forPrograms: true,
    meaning: 'Too many messages are queued for a process that does not read them, so this message was not accepted.',
    suggestion: 'Wait for earlier messages before you send more, and find out why the process does not keep up.',
  },
  E_IPC_SIZE: {
    meaning: 'A message between two processes of a swarm is too large and was rejected.',
    suggestion: 'Put large data into a file and send its path.',
  },
  E_NEEDS_BUN: {
    forPrograms: true,
    meaning: 'A Node program used a function that works only in a Bun process.',
    suggestion: 'Run this part of the program on Bun.',
  },
  E_PLATFORM: {
    meaning: 'Goondan does not run on this operating system.',
    suggestion: 'Use Linux or macOS. docs/platforms.md says what is tested on each.',
  },
  E_PROCESSES_FULL: {
    forPrograms: true,
    meaning: 'Too many agent instances are waiting for a process, so this input was not accepted.',
    suggestion: 'Send the input again later, or raise `policy.maxProcesses`.',
  },
  E_PROCESS_START: {
    meaning: 'A process of the swarm could not be started.',
    suggestion:
      'Read the cause: usually a folder is missing, or the machine is out of processes or memory. If the process was not ready in time, `gdn logs` names the part that it was loading.',
  },
  E_QUESTION_CHANGED: {
    forPrograms: true,
    meaning: 'The question is not the one that the person saw.',
    suggestion: 'Look at the question again (`gdn approve`), and answer it then.',
  },
  E_QUESTION_ENDED: {
    forPrograms: true,
    meaning:
      'The question needs no answer any more: somebody has answered it, it has expired, or its turn is over. Or the answer was for always, and is revoked already.',
    suggestion: 'List the open questions with `gdn approve`.',
  },
  E_QUESTION_FORBIDDEN: {
    forPrograms: true,
    meaning: 'This channel, or this person, may not answer the question.',
    suggestion: 'Answer it with `gdn approve` or `gdn deny`, in Studio, or where its turn began.',
  },
  E_QUESTION_RECORD: {
    meaning: 'The store has a record among the questions that is not a question. It is not used, and stays there.',
    suggestion:
      'Remove it while the swarm is stopped: delete its row in PostgreSQL, or move the file `approvals.jsonl` away. Without the file, open questions are asked again, and nothing is always allowed.',
  },
  E_QUESTION_REPLY: {
    forPrograms: true,
    meaning: 'An answer does not fit its question, such as edited arguments that do not fit the schema of the tool.',
    suggestion: 'Correct the field that the message names.',
  },
  E_QUESTION_UNKNOWN: {
    forPrograms: true,
    meaning:
      'There is no question with this id: it was never asked, its call has ended, or its answer was for always and is revoked.',
    suggestion: 'List the open questions with `gdn approve`.',
  },
  E_RELOAD_FAILED: {
    forPrograms: true,
    meaning:
      'A changed agent or connection did not start on trial, or a running process could not take the change. The running swarm was not changed.',
    suggestion: 'Correct the part that the message names, then reload again. The swarm continues with its old plan.',
  },
  E_RELOAD_SOURCE: {
    meaning: 'A program started this swarm without a way to read its plan again, so the swarm cannot reload.',
    suggestion:
      'Pass `readPlan` to `startSwarm`, or pass `bundleFolder` and leave out the plan. Or start the swarm again.',
  },
  E_RELOAD_SWARM: {
    meaning:
      'The new plan has another swarm name. A running swarm cannot change its name, because its conversations belong to that name.',
    suggestion: 'Stop the running swarm and run the other one, or give the swarm its name back.',
  },
  E_REPLAY_EXTENSION: {
    meaning: 'A replay leaves out or swaps an extension that the agent does not have.',
    suggestion: 'Name one of the extensions that the message lists, as `Extension/name`.',
  },
  E_REPLAY_PLAN: {
    meaning: 'The turn to replay ran with more than one plan, and one of these plans cannot be loaded.',
    suggestion:
      'Put that version of the bundle into another folder, for example with `git worktree add`, and name the folder with `--also`. Variables that were set in that run must be set now.',
  },
  E_REPLAY_SWAP: {
    meaning: 'The file that should replace an extension in a replay is missing or is not a file.',
    suggestion: 'Check the path after `=`. It is relative to the current folder.',
  },
  E_SWARM_PLAN: {
    meaning: 'The plan of a swarm is incomplete or contradicts itself.',
    suggestion: 'Correct the errors that the message lists; it lists all of them.',
  },
  E_SWARM_RUNNING: {
    forPrograms: true,
    meaning:
      'An orchestrator is already running on this workspace, here or in another container. Only one can run at a time.',
    suggestion:
      'Use the swarm that the message names, or stop it first. To run another swarm at the same time, give it its own workspace.',
  },
  E_SWARM_STOPPED: {
    forPrograms: true,
    meaning: 'The swarm is stopping or has stopped, and accepts no more input.',
    suggestion:
      'Start the swarm again, or ask another node of it: the inputs that were accepted before are then handled.',
  },
  E_WATCH: {
    meaning: 'The files of a bundle cannot be watched: there are too many folders, or the system is out of watches.',
    suggestion: 'Read the cause. You can run without `--watch` and use `gdn reload` instead.',
  },
  E_WEBHOOK_SIGNATURE: {
    meaning: 'A webhook delivery has a wrong signature, or is too old.',
    suggestion:
      'Check that both sides have the same secret, and that `signature` of the connection matches the format that the sender uses.',
  },
  E_WORKSPACE_UNKNOWN: {
    forPrograms: true,
    meaning: 'The state root has no such workspace.',
    suggestion: 'Choose a workspace that Studio lists.',
  },
} as const satisfies Record<string, CatalogueEntry>;
