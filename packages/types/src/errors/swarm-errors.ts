/** The codes of what goes wrong between the processes of a swarm, and about the swarm itself. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const swarmErrors = {
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
    suggestion:
      "Look at the agent's log: one of its tools or extensions ends the process, or does not finish loading within `policy.startTimeoutMs`.",
  },
  E_AGENT_TIMEOUT: {
    meaning: 'The called agent did not begin its turn in time, or did not answer in time.',
    suggestion: 'Raise the limit that the message names, or look at what the called agent is doing.',
  },
  E_AGENT_UNKNOWN: {
    meaning: 'The target of a request or send is not an agent of this swarm.',
    suggestion: 'Use one of the names the message lists.',
  },
  E_APPROVALS_FULL: {
    meaning: 'As many tool calls wait for the word of a person as may.',
    suggestion: 'Answer some of them (`gdn approve`, `gdn deny`), then ask again.',
  },
  E_APPROVAL_BELOW_AGENT: {
    meaning: 'A program that an agent started tried to answer a question that is meant for a person.',
    suggestion: 'Type it in a terminal of your own.',
  },
  E_APPROVAL_UNKNOWN: {
    meaning: 'No tool call waits under this id: it was answered before, has expired, or its turn is over.',
    suggestion: 'See what waits with `gdn approve`.',
  },
  E_CALLS_FULL: {
    meaning: 'As many requests, sends and asks of connectors are under way as may be.',
    suggestion: 'Wait for some of them to end before asking for more.',
  },
  E_CONNECTOR_CONFIG: {
    meaning: 'The config of a connection does not fit what its connector expects, or a secret it needs is missing.',
    suggestion: 'Correct what the message names, in `spec.config` or `spec.secrets` of the Connection.',
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
  E_DEAD_LETTER_UNKNOWN: {
    meaning: 'There is no dead letter of this id.',
    suggestion: 'See which ones there are, with `gdn deadletter list`.',
  },
  E_HTTP_AUTH: {
    meaning: 'A request to a connector brought no token, or a wrong one.',
    suggestion: 'Send `Authorization: Bearer …` with the token that the Connection has in `secrets`.',
  },
  E_HTTP_BODY: {
    meaning: 'The body of a request to a connector is not what it takes.',
    suggestion: 'Correct what the message names.',
  },
  E_HTTP_FULL: {
    meaning: 'A connector answers as many requests at once as it may.',
    suggestion: 'Send it again later, or raise `maxConcurrent` of the connection.',
  },
  E_HTTP_METHOD: {
    meaning: 'A connector does not take this method here.',
    suggestion: 'Use the method the message names.',
  },
  E_HTTP_ORIGIN: {
    meaning: 'A request came from a page of a browser, or for another host, to a connector that asks for no token.',
    suggestion: 'Give the connection a token instead of `insecure: true`.',
  },
  E_HTTP_PATH: {
    meaning: 'A connector has nothing at this path.',
    suggestion: 'Check the address of the request, and `path` of the connection.',
  },
  E_HTTP_SIZE: {
    meaning: 'The body of a request to a connector is too long.',
    suggestion: 'Send less, or put what is large where the agent can fetch it.',
  },
  E_HTTP_SLOW: {
    meaning: 'The body of a request to a connector did not come in time.',
    suggestion: 'Send it again.',
  },
  E_HTTP_TIMEOUT: {
    meaning: 'The turn of a request was not over when the time to wait for it was.',
    suggestion: 'Ask again with the same id to get the answer, or raise `timeoutSeconds` of the connection.',
  },
  E_HTTP_TYPE: {
    meaning: 'The body of a request to a connector is of another type than it takes.',
    suggestion: 'Send JSON, with `Content-Type: application/json`.',
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
  E_INSTANCE_DELETED: {
    meaning: 'The conversation was deleted before the input was handled.',
    suggestion: 'Nothing of it is left. Send it again if it is still wanted: that begins a new conversation.',
  },
  E_INSTANCE_EXISTS: {
    meaning: 'A conversation was not made, because there is one under this key.',
    suggestion: 'Choose another key, or delete the one that is there with `gdn instance delete`.',
  },
  E_INSTANCE_KEY: {
    meaning: 'An instance key is empty, too long, or not valid text.',
    suggestion: 'Use a key of 1 to 1024 characters.',
  },
  E_INSTANCE_PENDING: {
    meaning: 'A conversation was not deleted, because inputs that were accepted for it are not handled yet.',
    suggestion: 'Let the swarm handle them first, or add `--force`: then they are lost with it.',
  },
  E_INSTANCE_UNKNOWN: {
    meaning: 'There is no such conversation.',
    suggestion: 'See which ones there are, with `gdn instance list`.',
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
  E_PROCESSES_FULL: {
    meaning: 'As many agent instances wait for a process as may, so input for one more was not accepted.',
    suggestion: 'Send it again later, or raise `policy.maxProcesses`.',
  },
  E_PROCESS_START: {
    meaning: 'A process of the swarm could not be started.',
    suggestion: 'Read the cause: usually a folder is missing, or the machine is out of processes or memory.',
  },
  E_RELOAD_FAILED: {
    meaning: 'A changed agent or connection did not start on trial, so nothing of the running swarm was changed.',
    suggestion: 'Correct the part that the message names, then reload again. The swarm goes on with what it had.',
  },
  E_RELOAD_SOURCE: {
    meaning: 'A swarm that a program started was asked to reload, and the program gave no way to read its plan again.',
    suggestion: 'Give `startSwarm` a `readPlan`, or start the swarm again.',
  },
  E_RELOAD_SWARM: {
    meaning:
      'What was read again is another swarm: a swarm keeps its name, and with it its conversations, for its life.',
    suggestion: 'Stop the running swarm and run the other one, or give the swarm its name back.',
  },
  E_REPLAY_EXTENSION: {
    meaning: 'A replay should go without an extension, or with another in its place, that the agent does not have.',
    suggestion: 'Name one of the extensions that the message lists, as `Extension/name`.',
  },
  E_REPLAY_SWAP: {
    meaning: 'The file that should take the place of an extension in a replay is not there, or is no file.',
    suggestion: 'Check the path after `=`. It is relative to the folder you are in.',
  },
  E_SWARM_PLAN: {
    meaning: 'What a swarm should be started from contradicts itself or lacks something.',
    suggestion: 'Correct what the message names; it names everything at once.',
  },
  E_SWARM_RUNNING: {
    meaning:
      'An orchestrator is running on this workspace already, here or in another container; there is one at a time.',
    suggestion: 'Talk to the one the message names, or stop it first. Another swarm needs a workspace of its own.',
  },
  E_SWARM_STOPPED: {
    meaning: 'The swarm is being stopped, or is stopped, and takes no more input.',
    suggestion: 'Start it again: what was accepted before is handled then.',
  },
  E_WATCH: {
    meaning: 'The files of a bundle cannot be watched: there are too many folders, or the system has no more to give.',
    suggestion: 'Read the cause. Without `--watch`, `gdn reload` has the same effect.',
  },
  E_WEBHOOK_SIGNATURE: {
    meaning: 'A delivery to a webhook is not signed as it should be, is too old, or was sent before under another id.',
    suggestion:
      'Check that both sides have the same secret, and that the connection describes the signature as it is made.',
  },
  E_WORKSPACE_UNKNOWN: {
    meaning: 'The state root has no such workspace.',
    suggestion: 'Choose one of those that Studio lists.',
  },
} as const satisfies Record<string, CatalogueEntry>;
