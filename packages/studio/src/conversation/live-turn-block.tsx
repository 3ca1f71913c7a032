import type { Done } from '@goondan/cli/studio';
import { useState } from 'react';
import type { LiveTool, LiveTurn } from '../live/live-turns.ts';
import { Problem } from '../problems/problem.tsx';
import { addressOf, postTo } from '../server/ask-server.ts';
import { Markdown } from '../text/markdown.tsx';
import type { Show } from '../route/route.ts';

interface LiveTurnBlockProps {
  readonly live: LiveTurn;
  /** True while a question of the turn waits for an answer. */
  readonly isWaiting: boolean;
  readonly workspaceId: string;
  readonly show: Show;
}

const signs: Readonly<Record<LiveTool['state'], string>> = {
  running: 'is-open',
  waiting: 'is-waiting',
  ok: 'is-ok',
  error: 'is-error',
};

/** Shows the running turn. */
export function LiveTurnBlock({ live, isWaiting, workspaceId, show }: LiveTurnBlockProps) {
  const [problem, setProblem] = useState<Error>();
  const [cancelled, setCancelled] = useState<string>();
  const { agent, instanceKey, text, reasoning, tools, turnId, stepIndex, isCut = false } = live;
  const cancel = () => {
    setCancelled(turnId);
    // Passes the turn's id, so that a late click does not cancel the next turn.
    const named = turnId === undefined ? {} : { turnId };
    postTo<Done>(addressOf(workspaceId, 'cancel'), { agent, instanceKey, ...named }).catch((error: unknown) => {
      setCancelled(undefined);
      setProblem(error instanceof Error ? error : new Error(String(error)));
    });
  };
  const isCancelled = turnId !== undefined && cancelled === turnId;
  return (
    <section className="turn is-live" role="group" aria-label="The turn that runs now" aria-busy="true">
      <header className="turn-head">
        <span className="quiet">
          <span className="dot is-working" aria-hidden="true" />{' '}
          {isCancelled ? 'being cancelled' : isWaiting ? 'waits for you' : 'working'}
          {stepIndex === undefined ? '' : ` · step ${stepIndex + 1}`}
        </span>
        {turnId !== undefined && (
          <button type="button" className="turn-onion" data-turn={turnId} onClick={() => show({ turn: turnId })}>
            Onion
          </button>
        )}
        <button type="button" className="quiet-button" aria-disabled={isCancelled} onClick={cancel}>
          Cancel
        </button>
      </header>
      {tools.map((tool) => (
        <div key={tool.id} className={`tool ${signs[tool.state]}`}>
          <div className="summary">
            <span className="dot is-square tool-sign" aria-hidden="true" />
            <code className="tool-name">{tool.name}</code>
            <span className="tool-line cut">{tool.args}</span>
            {tool.state === 'waiting' && <span className="badge">waits for a person</span>}
          </div>
        </div>
      ))}
      {reasoning !== '' && text === '' && <p className="text quiet">{reasoning}</p>}
      {text !== '' && (
        <article className="message is-assistant is-streaming">
          <header>
            <span className="author">{agent}</span>
          </header>
          <Markdown text={isCut ? `… ${text}` : text} />
        </article>
      )}
      {problem !== undefined && <Problem error={problem} />}
    </section>
  );
}
