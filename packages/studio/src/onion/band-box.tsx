import type { CSSProperties, MouseEvent } from 'react';
import { Clock } from '../time/clock.tsx';
import { describeBand, hasFailed, isRunning, kindWordOf, marksOf, timeOf, titleOf } from './describe-band.ts';
import type { Band } from './bands.ts';

interface BandBoxProps {
  readonly band: Band;
  /** The duration of the whole turn. A time bar of this duration takes the full width. */
  readonly wholeMs: number;
  /** The start of the outermost turn in milliseconds, if the turn runs now. */
  readonly startedAt: number | undefined;
  /** The ids of the closed bands. */
  readonly closed: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly chosenId: string;
  readonly choose: (id: string) => void;
}

export function BandBox(props: BandBoxProps) {
  const { band, wholeMs, startedAt, closed, toggle, chosenId, choose } = props;
  const { id, type, kind, inside } = band;
  const isOpen = inside.length > 0 && !closed.has(id);
  const isChosen = id === chosenId;
  const marks = [
    `band is-${type} is-${kind}`,
    ...(isChosen ? ['is-chosen'] : []),
    ...(hasFailed(band) ? ['has-failed'] : []),
  ];
  return (
    <div className={marks.join(' ')} style={{ '--tone': `var(--${kind})` } as CSSProperties} role="none">
      {/* In the layout, the inner bands are siblings of this element; `aria-owns` nests them for screen readers. */}
      <button
        type="button"
        className="line band-head"
        role="treeitem"
        aria-label={describeBand(band)}
        aria-selected={isChosen}
        aria-expanded={inside.length > 0 ? isOpen : undefined}
        aria-owns={isOpen ? `inside-${id}` : undefined}
        tabIndex={isChosen ? 0 : -1}
        data-band={id}
        onClick={() => choose(id)}
        onDoubleClick={() => inside.length > 0 && toggle(id)}
      >
        {inside.length > 0 && <Fold isOpen={isOpen} toggle={() => toggle(id)} />}
        {type === 'chain' && <span className="band-kind">{kindWordOf(band)}</span>}
        <span className="band-title cut">{titleOf(band)}</span>
        {marksOf(band).map(({ text, tone }) => (
          <span key={text} className={`band-mark cut is-${tone}`}>
            {text}
          </span>
        ))}
        <span className="band-time cut" title={timeOf(band)}>
          {isRunning(band) && startedAt !== undefined ? <Clock since={startedAt + band.startMs} /> : timeOf(band)}
        </span>
        {!isRunning(band) && <TimeBar band={band} wholeMs={wholeMs} />}
      </button>
      {isOpen && (
        <div className="band-inside" role="group" id={`inside-${id}`}>
          {inside.map((each) => (
            <BandBox {...props} key={each.id} band={each} />
          ))}
        </div>
      )}
    </div>
  );
}

/**
 * A button that opens or closes a band with the mouse. On the keyboard the arrow keys do the same, and screen readers
 * announce whether the band is open.
 */
function Fold({ isOpen, toggle }: { readonly isOpen: boolean; readonly toggle: () => void }) {
  const click = (event: MouseEvent) => {
    event.stopPropagation();
    toggle();
  };
  return (
    <span className={isOpen ? 'band-fold' : 'band-fold is-closed'} aria-hidden="true" onClick={click}>
      ▾
    </span>
  );
}

/** Shows when the band ran within the turn, and for how long. */
function TimeBar({ band: { startMs, totalMs }, wholeMs }: Pick<BandBoxProps, 'band' | 'wholeMs'>) {
  const all = Math.max(wholeMs, 0.001);
  const left = Math.min(100, (startMs / all) * 100);
  const width = Math.max(0.8, Math.min(100 - left, (totalMs / all) * 100));
  return (
    <span className="band-bar" aria-hidden="true">
      <span style={{ left: `${left}%`, width: `${width}%` }} />
    </span>
  );
}
