/** Records facts about a swarm and its agents, for commands and Studio. */
import type { ClusterStore } from '@goondan/runtime/history';
import type { Database } from '../driver/database.ts';

/** A failure is reported, and does not reject. */
export function openDescriptions(
  database: Database,
  swarm: string,
  report: (problem: string) => void,
): Pick<ClusterStore, 'describeSwarm' | 'describeAgent'> {
  const write = async (statement: string, values: readonly (string | null)[], subject: string) => {
    try {
      await database.query(statement, values);
    } catch (error) {
      report(`the description of ${subject} was not stored: ${String(error)}`);
    }
  };
  return {
    describeSwarm: ({ swarm: name, folder }) => write(DESCRIBE_SWARM, [swarm, name, folder ?? null], 'the swarm'),
    describeAgent: (agentName, description) =>
      write(DESCRIBE_AGENT, [swarm, agentName, JSON.stringify(description)], `the agent "${agentName}"`),
  };
}

const DESCRIBE_SWARM = `
insert into gdn_swarm (swarm, name, folder) values ($1, $2, $3)
on conflict (swarm) do update set name = excluded.name, folder = coalesce(excluded.folder, gdn_swarm.folder)`;

const DESCRIBE_AGENT = `
insert into gdn_agent (swarm, agent, description) values ($1, $2, $3)
on conflict (swarm, agent) do update set description = excluded.description`;
