/** Shows the last known tools of each agent, with the source of each tool and the time it was last seen. */
import type { AgentView } from '@goondan/cli/studio';
import { counted } from '../text/counted.ts';
import { describeMoment } from '../time/describe-time.ts';

export function AgentTools({ agents }: { readonly agents: readonly AgentView[] }) {
  const some = agents.filter(
    ({ tools, unknownTools, schemaInCode = [] }) => tools.length + unknownTools.length + schemaInCode.length > 0,
  );
  if (some.length === 0) return null;
  return (
    <section>
      <h2>Tools</h2>
      {some.map(({ name, tools, toolSources, unknownTools, schemaInCode = [] }) => (
        <details key={name} className="agent-tools">
          <summary>
            {name} <span className="quiet">{counted(tools.length, 'tool')}</span>
            {unknownTools.map(({ extension, test }) => (
              <span key={extension} className="bad">
                {' '}
                {extension}: tools unknown{test !== null && <code> {test}</code>}
              </span>
            ))}
            {schemaInCode.map((tool) => (
              <span key={tool} className="quiet">
                {' '}
                {tool}: schema in code, known after a start
              </span>
            ))}
          </summary>
          <ul className="plain-list">
            {toolSources.map(({ name: tool, from, seenAt }) => (
              <li key={tool}>
                <code>{tool}</code>{' '}
                <span className="quiet">
                  {from}
                  {seenAt !== null && `, seen ${describeMoment(seenAt)}`}
                </span>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}
