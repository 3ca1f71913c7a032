/**
 * The facts that `{ expr: path }` in the arguments of a hook can name, by point. The extension `hooks` collects them; a
 * test of that extension compares this list with the collected facts.
 */
import type { HookPoint } from '@goondan/types';

export function factsAt(point: HookPoint): readonly string[] {
  return [...everywhere, ...added[point]];
}

const everywhere = ['agentName', 'instanceKey', 'turnId', 'traceId', 'workdir', 'bundleFolder'];
const ofStep = ['stepIndex', 'tools'];
const ofToolCall = ['stepIndex', 'tool'];

const added: Readonly<Record<HookPoint, readonly string[]>> = {
  'turn.pre': ['event'],
  'turn.post': ['event', 'result'],
  'step.pre': ofStep,
  'step.config': ofStep,
  'step.tools': ofStep,
  'step.blocks': ofStep,
  'step.llmCall': [...ofStep, 'model', 'messages'],
  'step.llmError': [...ofStep, 'error'],
  'step.post': [...ofStep, 'result'],
  'toolCall.pre': ofToolCall,
  'toolCall.exec': ofToolCall,
  'toolCall.post': [...ofToolCall, 'result'],
};
