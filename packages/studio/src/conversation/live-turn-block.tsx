import type { Done } from '@goondan/cli/studio';
import { useState } from 'react';
import type { LiveTool, LiveTurn } from '../live/live-turns.ts';
import { Problem } from '../problems/problem.tsx';
import { addressOf, postTo } from '../server/ask-server.ts';
import { Clock } from '../time/clock.tsx';
import { Markdown } from '../text/markdown.tsx';
import type { Show } from '../route/route.ts';

interface LiveTurnBlockProps {
  readonly live: LiveTurn;
  /** What the turn waits for, in words; absent while it works. */
  readonly waitsFor: string | undefined;
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
export function LiveTurnBlock({ live, waitsFor, workspaceId, show }: LiveTurnBlockProps) {
  const [problem, setProblem] = useState<Error>();
  const [cancelled, setCancelled] = useState<string>();
  const { agent, instanceKey, text, reasoning, tools, turnId, stepIndex, startedAt, stepAt, isCut = false } = live;
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
          <span className={`dot ${waitsFor === undefined ? 'is-working' : 'is-waiting'}`} aria-hidden="true" />{' '}
          {isCancelled ? 'being cancelled' : waitsFor === undefined ? 'working' : `waits for ${waitsFor}`}{' '}
          <Clock since={startedAt} />
          {stepIndex !== undefined && ` · step ${stepIndex + 1}`}
          {stepIndex !== undefined && stepIndex > 0 && (
            <>
              {', '}
              <Clock since={stepAt} />
            </>
          )}
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
            {(tool.state === 'running' || tool.state === 'waiting') && <Clock since={tool.since} />}
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
