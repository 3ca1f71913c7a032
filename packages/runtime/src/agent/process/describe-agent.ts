import type { MiddlewareKind } from '@goondan/types';
import type { FromAgent, LayerSummary } from '../../ipc/from-agent.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { RunningAgent } from '../start-agent.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'toolCall', 'model'];

/** What an agent turned out to be made of: the message that it is ready. */
export function describeAgent(agent: RunningAgent): Extract<FromAgent, { readonly type: 'ready' }> {
  return {
    type: 'ready',
    extensions: agent.extensions,
    layers: kinds.flatMap((kind) => agent.layers(kind).map(summarise)),
    tools: agent.parts.tools.items().map(({ name }) => name),
  };
}

function summarise({ run: _, timeoutMs, ...layer }: Layer): LayerSummary {
  return timeoutMs === undefined ? layer : { ...layer, timeoutMs };
}
