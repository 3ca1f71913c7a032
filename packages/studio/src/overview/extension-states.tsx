/**
 * Shows the status of services such as MCP servers: the number of tools when connected, otherwise the problem and the
 * last printed lines.
 */
import type { ExtensionStatusChanged } from '@goondan/cli/studio';
import { counted } from '../text/counted.ts';
import { describeMoment } from '../time/describe-time.ts';

/** The time is unknown if the service has not reported its state. */
type ShownStatus = Omit<ExtensionStatusChanged, 'since' | 'timestamp'> & { readonly since?: string };

export function ExtensionStates({ statuses }: { readonly statuses: readonly ShownStatus[] }) {
  return (
    <ul className="plain-list extension-states">
      {statuses.map((status) => (
        <li key={JSON.stringify([status.agentName, status.instanceKey, status.extension])}>
          <span className={`dot ${dotOf(status)}`} aria-hidden="true" />
          <div>
            {status.extension}{' '}
            <span className="quiet">
              {status.agentName} {status.instanceKey} · {describeState(status)}
            </span>
            {status.problem !== undefined && (
              <div className={status.state === 'connected' ? 'quiet' : 'bad'}>{status.problem}</div>
            )}
            {status.state !== 'connected' && status.lines !== undefined && status.lines.length > 0 && (
              <pre className="extension-lines">{status.lines.join('\n')}</pre>
            )}
            {status.withheld?.map(({ name, problem }) => (
              <div key={name} className="quiet">
                withheld: {name}: {problem}
              </div>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

export function describeState({ state, since, tools, lost = 0 }: ShownStatus): string {
  return [
    state === 'idle'
      ? 'connects when it is needed'
      : since === undefined
        ? state
        : `${state} since ${describeMoment(since)}`,
    ...(state === 'connected' && tools !== undefined ? [counted(tools.length, 'tool')] : []),
    ...(lost === 0 ? [] : [`lost ${counted(lost, 'time')}`]),
  ].join(' · ');
}

function dotOf({ state }: ShownStatus): string {
  if (state === 'connected') return 'is-running';
  if (state === 'failed' || state === 'reconnecting') return 'is-failed';
  return state === 'connecting' ? 'is-working' : 'is-stopped';
}
