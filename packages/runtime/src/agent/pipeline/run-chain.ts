/** Every chain of a turn: the onion, with the layers the agent has, watched from its start to its end. */
import type { MiddlewareKind } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';
import { type Chain, type LayerWarning, runOnion } from './onion.ts';
import { noteThrown } from './note-thrown.ts';
import type { TurnRun } from '../turn-state/turn-run.ts';

export interface TurnChain<Result> extends Pick<Chain<Result>, 'contextFor' | 'core' | 'problemWith' | 'answered'> {
  readonly kind: MiddlewareKind;
  /** From `watch`, when somebody watches. */
  readonly span: ChainSpan | undefined;
}

export async function runChain<Result>(run: TurnRun, chain: TurnChain<Result>): Promise<Result> {
  const { agent, clock } = run;
  const { span } = chain;
  const { layers, thrownBy } = noteThrown(agent.layers.of(chain.kind));
  const warn = (warning: LayerWarning) => run.warn(warning, thrownBy(warning.layer));
  try {
    const result = await runOnion({ ...chain, layers, clock, warn });
    span?.end(result);
    return result;
  } catch (error) {
    span?.fail(error);
    throw error;
  }
}
