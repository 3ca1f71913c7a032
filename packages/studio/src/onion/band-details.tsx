/** Shows the details of one band: its times, and a diff of all its changes. */
import type { LayerRecord } from '@goondan/cli/studio';
import { ErrorOrigin } from '../problems/error-origin.tsx';
import { describeDuration } from '../time/describe-time.ts';
import { counted } from '../text/counted.ts';
import { describeUsage } from '../text/describe-usage.ts';
import { LongText } from '../text/long-text.tsx';
import { showText } from '../text/show-text.ts';
import type { Band, SpanBand } from './bands.ts';
import { ChangeList } from './change-list.tsx';
import { describeCacheLoss, describeTokens, describeWait } from './describe-band.ts';
import { PromptDetails } from './prompt-details.tsx';

const outcomes: Readonly<Record<LayerRecord['outcome'], string>> = {
  passed: '',
  running: 'It was still running when this was recorded.',
  short_circuit: 'It did not call next(): everything inside it was skipped.',
  skipped: 'It failed and was skipped: the chain continued without it.',
  failed: 'It failed.',
};

const PASSED_ON = 'It passed on an error that began inside it.';

const kinds = {
  turn: 'around the turn',
  step: 'around a step',
  model: 'around the model call',
  toolCall: 'around a tool call',
};

export function BandDetails({ workspaceId, band }: { readonly workspaceId: string; readonly band: Band }) {
  return (
    <section className="details" aria-label={`What ${band.title} did`}>
      {band.type === 'layer' ? <LayerDetails band={band} /> : <SpanDetails band={band} />}
      {band.type === 'chain' && band.kind === 'model' && band.chain.effect !== undefined && (
        <PromptDetails key={band.id} workspaceId={workspaceId} turnId={band.turnId} effect={band.chain.effect} />
      )}
    </section>
  );
}

function LayerDetails({ band }: { readonly band: Extract<Band, { type: 'layer' }> }) {
  const { layer, kind, title, passedOn } = band;
  const { ownMs, totalMs, changed, emitted, emittedMore, messages, resultChanged, outcome, error, isCut, isCancelled } =
    layer;
  const { place, stack, answers = [] } = layer;
  const waited = describeWait(layer);
  const isBad = (outcome === 'failed' || outcome === 'skipped') && isCancelled !== true && !passedOn;
  const isQuiet = changed.length + emitted.length + resultChanged.length === 0;
  return (
    <>
      <h3>{title}</h3>
      <p className="quiet">
        {kinds[kind]} · own {describeDuration(ownMs)} of {describeDuration(totalMs)}
        {waited !== undefined && ` · ${waited}`}
      </p>
      {outcome !== 'passed' && (
        <p className={isBad ? 'bad' : ''}>
          {isCancelled === true ? 'The turn was cancelled.' : passedOn ? PASSED_ON : outcomes[outcome]}
        </p>
      )}
      {error !== undefined && <pre className={isBad ? 'bad' : 'quiet'}>{error}</pre>}
      <ErrorOrigin place={place} stack={stack} />
      {answers.map(({ by = 'A person', via, before, args }, index) => (
        <ChangeList
          key={index}
          title={showText(`Changed by ${by}${via === undefined ? '' : ` via ${via}`}`)}
          changes={args === undefined ? [] : [{ path: 'args', ...writtenOut({ before, after: args }) }]}
        />
      ))}
      <ChangeList title="On the way in" changes={changed} />
      {emitted.length > 0 && (
        <>
          <h4>Message events</h4>
          <ul className="changes">
            {emitted.map((event, index) => (
              <li key={index} className="is-added">
                <code>{event}</code>
              </li>
            ))}
          </ul>
          {emittedMore > 0 && <p className="quiet">and {emittedMore} more</p>}
        </>
      )}
      <ChangeList title="What they say" changes={messages} />
      <ChangeList title="On the way out" changes={resultChanged} />
      {isQuiet && outcome === 'passed' && <p className="quiet">It changed nothing.</p>}
      {isCut === true && <p className="quiet">There were more changes than were written down.</p>}
    </>
  );
}

/** Writes the values of a change as records have them. */
function writtenOut({ before, after }: { readonly before: object | undefined; readonly after: object }) {
  return { ...(before !== undefined && { before: JSON.stringify(before) }), after: JSON.stringify(after) };
}

function SpanDetails({ band }: { readonly band: SpanBand }) {
  const { chain, turn, kind, title, totalMs, passedOn } = band;
  const { input, args, result, outcome, tokens, error, place, stack, retryMs, layers, isCancelled, plan, request } =
    chain;
  const waited = describeWait(chain);
  const about = { turn: 'turn of', step: '', model: 'model call', toolCall: 'tool call' }[kind];
  return (
    <>
      <h3>
        {about} {title}
      </h3>
      <p className="quiet">
        {[
          chain.isUnfinished === true ? 'running' : describeDuration(totalMs),
          ...(chain.askedMs === undefined ? [] : ['asked a person']),
          ...(chain.limitWait === undefined ? [] : [`waits for ${chain.limitWait.limit}`]),
          ...(waited === undefined ? [] : [waited]),
          counted(layers.length, 'layer'),
          ...(tokens === undefined ? [] : describeTokens(tokens)),
          ...describeUsage(turn ?? {}),
          ...(outcome === undefined ? [] : [outcome]),
          ...(plan === undefined ? [] : [`plan ${plan.slice(0, 8)}`]),
          ...(turn === undefined || turn.instanceKey === 'default' ? [] : [turn.instanceKey]),
        ].join(' · ')}
      </p>
      {passedOn && <p>{PASSED_ON}</p>}
      {error !== undefined && <pre className={isCancelled === true || passedOn ? 'quiet' : 'bad'}>{error}</pre>}
      <ErrorOrigin place={place} stack={stack} />
      {request?.cacheLost !== undefined && <p>{describeCacheLoss(request.cacheLost)}</p>}
      {turn?.input !== undefined && <p className="text">“{turn.input}”</p>}
      {input !== undefined && args === undefined && (
        <>
          <h4>Asked with</h4>
          <pre>{input}</pre>
        </>
      )}
      {args !== undefined && <LongText title="Arguments" text={JSON.stringify(args, null, 2)} />}
      {result !== undefined && <LongText title="Result" text={JSON.stringify(result, null, 2)} />}
      {retryMs !== undefined && (
        <p className="quiet">It was tried again {retryMs === 0 ? 'at once' : `after ${describeDuration(retryMs)}`}.</p>
      )}
    </>
  );
}
