/** Shows the onion of a turn: nested bands that the arrow keys navigate, and the details of the selected band. */
import type { TurnTrace } from '@goondan/cli/studio';
import { type CSSProperties, type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { BandBox } from './band-box.tsx';
import { BandDetails } from './band-details.tsx';
import { bandsOf, type Band, listBands } from './bands.ts';
import { chosenAtFirst, closedAtFirst, seenBands } from './closed-bands.ts';
import { stepToBand } from './step-to-band.ts';

export function Onion({
  workspaceId,
  turn,
  isLive,
}: {
  readonly workspaceId: string;
  readonly turn: TurnTrace;
  /** True if the turn runs now. An unfinished turn of a stopped swarm does not. */
  readonly isLive: boolean;
}) {
  const whole = useMemo(() => bandsOf(turn), [turn]);
  const bands = useMemo(() => listBands(whole), [whole]);
  const wholeMs = bands.reduce((latest, { startMs, totalMs }) => Math.max(latest, startMs + totalMs), 0);
  const [closed, setClosed] = useState(() => closedAtFirst(whole));
  const [chosenId, choose] = useState(() => chosenAtFirst(whole, closed).id);
  const tree = useRef<HTMLDivElement>(null);
  const chosen = bands.find(({ id }) => id === chosenId) ?? whole;

  const toggle = (id: string) => {
    setClosed((ids) => (ids.has(id) ? new Set([...ids].filter((each) => each !== id)) : new Set([...ids, id])));
  };
  const press = (event: KeyboardEvent) => {
    const step = stepToBand(seenBands(whole, closed), closed, chosen, event.key);
    if (step === undefined) return;
    event.preventDefault();
    if (!('to' in step)) return toggle(chosen.id);
    choose(step.to.id);
    tree.current?.querySelector<HTMLElement>(`[data-band="${step.to.id}"]`)?.focus();
  };
  const { resumes, missing } = turn;
  return (
    <div className="onion">
      <div className="bands" style={indentOf(bands)}>
        <div role="tree" aria-label="Layers" ref={tree} onKeyDown={press}>
          <BandBox
            band={whole}
            wholeMs={wholeMs}
            startedAt={isLive ? Date.parse(turn.startedAt) : undefined}
            closed={closed}
            toggle={toggle}
            chosenId={chosen.id}
            choose={choose}
          />
        </div>
        {(resumes > 0 || missing.isCut || missing.lines + missing.chains > 0) && (
          <p className="quiet bands-missing">
            Not everything is here: a crash, or the bound of one turn's record, cut some of it.
          </p>
        )}
      </div>
      <BandDetails workspaceId={workspaceId} band={chosen} />
    </div>
  );
}

/** Returns a smaller indentation for a deeper onion, so that the innermost band has room for its name. */
function indentOf(bands: readonly Band[]): CSSProperties {
  const depth = bands.reduce((deepest, { id }) => Math.max(deepest, id.split('.').length), 1);
  const indent = Math.min(7, Math.max(1, 60 / depth));
  // The types of styles do not allow custom properties.
  return { '--indent': `${indent.toFixed(1)}px` } as CSSProperties;
}
