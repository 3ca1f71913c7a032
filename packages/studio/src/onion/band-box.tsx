import { memo } from 'react';
import { describeDuration } from '../time/describe-time.ts';
import { type Band, countChanges } from './bands.ts';

interface BandBoxProps {
  readonly band: Band;
  /** The outermost: its time is the whole width. */
  readonly whole: Band;
  readonly chosenId: string;
  readonly choose: (id: string) => void;
  readonly depth: number;
}

export const BandBox = memo(function BandBox({ band, whole, chosenId, choose, depth }: BandBoxProps) {
  const { id, type, kind, title, inside } = band;
  const isChosen = id === chosenId;
  const marks = [
    `band is-${type} is-${kind}`,
    ...(isChosen ? ['is-chosen'] : []),
    ...(hasFailed(band) ? ['has-failed'] : []),
  ];
  return (
    <div className={marks.join(' ')}>
      <button
        type="button"
        className="band-head"
        role="treeitem"
        aria-level={depth}
        aria-selected={isChosen}
        tabIndex={isChosen ? 0 : -1}
        data-band={id}
        onClick={() => choose(id)}
      >
        {type === 'chain' && <span className="band-kind">{kind === 'toolCall' ? 'tool' : kind}</span>}
        <span className="band-title">{kind === 'step' && type === 'chain' ? title.replace('step ', '') : title}</span>
        <BandMarks band={band} />
        <span className="band-time">{timeOf(band)}</span>
        <TimeBar band={band} whole={whole} />
      </button>
      {inside.length > 0 && (
        <div className="band-inside" role="group">
          {inside.map((each) => (
            <BandBox key={each.id} band={each} whole={whole} chosenId={chosenId} choose={choose} depth={depth + 1} />
          ))}
        </div>
      )}
    </div>
  );
});

function BandMarks({ band }: { readonly band: Band }) {
  if (band.type === 'chain') {
    const { error, isUnfinished, retryMs } = band.chain;
    if (error !== undefined)
      return <span className="band-mark is-bad">{retryMs === undefined ? 'failed' : 'tried again'}</span>;
    return isUnfinished === true ? <span className="band-mark">running</span> : null;
  }
  const { outcome } = band.layer;
  const count = countChanges(band.layer);
  return (
    <>
      {count > 0 && <span className="band-mark is-change">{count === 1 ? '1 change' : `${count} changes`}</span>}
      {outcome === 'short_circuit' && <span className="band-mark">short circuit</span>}
      {outcome === 'skipped' && <span className="band-mark is-bad">skipped</span>}
      {outcome === 'failed' && <span className="band-mark is-bad">failed</span>}
      {outcome === 'running' && <span className="band-mark">running</span>}
    </>
  );
}

/** Where in the turn it was, and for how long. */
function TimeBar({ band: { startMs, totalMs }, whole }: { readonly band: Band; readonly whole: Band }) {
  const all = Math.max(whole.totalMs, 0.001);
  const left = Math.min(100, (startMs / all) * 100);
  const width = Math.max(0.8, Math.min(100 - left, (totalMs / all) * 100));
  return (
    <span className="band-bar" aria-hidden="true">
      <span style={{ left: `${left}%`, width: `${width}%` }} />
    </span>
  );
}

function timeOf(band: Band): string {
  return band.type === 'layer' ? `own ${describeDuration(band.layer.ownMs)}` : describeDuration(band.totalMs);
}

function hasFailed(band: Band): boolean {
  return band.type === 'layer' ? band.layer.outcome === 'failed' : band.chain.error !== undefined;
}
