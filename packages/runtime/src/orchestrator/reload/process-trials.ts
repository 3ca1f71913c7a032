/** Runs trials in separate processes. They use neither the conversations nor the locks of the workspace. */
import type { AgentStart } from '../../config/agent-start.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import type { agentChildren } from '../child/agent-children.ts';
import { type ConnectionTrial, tryConnection } from '../connections/try-connection.ts';
import { describeLoneAgent } from '../lone/inspect-agent.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import type { Trials } from './try-changes.ts';

/**
 * Makes the trials. The contents of `folder` are removed with the run; `swarm` receives the log lines; `statesOf` returns
 * the states that an agent on trial begins with.
 */
export function processTrials({
  spawn,
  clock,
  folder,
  swarm,
  startChild,
  statesOf,
}: Pick<ConnectionTrial, 'spawn' | 'clock' | 'folder'> & {
  readonly startChild: ReturnType<typeof agentChildren>['start'];
  readonly statesOf: (agent: DeclaredAgent) => Promise<AgentStart['states'] & object>;
  readonly swarm: Pick<SwarmAgents, 'log' | 'printed'>;
}): Trials {
  return {
    agent: async (agent, { plan, secrets }, signal) => {
      const { agentName } = agent;
      const onOutput = (output: ChildOutput) => swarm.printed({ agent: agentName }, markOutput(output));
      const deps = { startChild, folder, onOutput };
      const start = { masked: secrets.earlierOfAgent(agent), states: await statesOf(agent) };
      return describeLoneAgent({ plan, agent, start, signal, clock, deps }, (message) => {
        if (message.type === 'log') swarm.log(markLine(message.line, { agent: agentName }));
      });
    },
    connection: (connection, { entryAgent, settings, secrets }, signal) =>
      tryConnection(secrets.addEarlier(connection), {
        spawn,
        clock,
        folder,
        entryAgent,
        settings,
        signal,
        onOutput: (output) => swarm.printed({ connection: connection.connection }, markOutput(output)),
        onLog: (line) => swarm.log(markLine(line, { connection: connection.connection })),
      }),
  };
}

/** The prefix that distinguishes log lines of a trial from those of the running part. */
const MARK = 'On trial: ';

/** The events with which a part says that it does not start. */
const failedStarts: ReadonlySet<string | undefined> = new Set(['start.failed', 'connector.failed']);

/**
 * Sets the agent or connection of the line, whatever the line says. A failed start is not an error here, because the
 * refusal of the reload reports it as one.
 */
function markLine(line: LogLine, whose: Pick<LogLine, 'agent' | 'connection'>): LogLine {
  const { agent: _agent, instance: _instance, connection: _connection, ...rest } = line;
  const level = failedStarts.has(line.event) ? 'info' : line.level;
  return { ...rest, ...whose, level, message: `${MARK}${line.message}` };
}

function markOutput(output: ChildOutput): ChildOutput {
  return output.kind === 'line' ? { ...output, text: `${MARK}${output.text}` } : output;
}
