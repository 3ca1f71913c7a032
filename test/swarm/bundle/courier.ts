/**
 * Runs errands in its layers: that in the event's `metadata.turn` in the turn layer, and that in `metadata.step` in the
 * layer of the first step.
 */
import type { AgentEvent, ExtensionRegister, StepMiddlewareContext, TurnMiddlewareContext } from '@goondan/types';
import { type Errand, note, runErrand } from './run-errand.ts';

export const register: ExtensionRegister<{ folder: string }> = ({ pipeline }, { folder }) => {
  const carry = async (
    kind: 'turn' | 'step',
    event: AgentEvent,
    ctx: TurnMiddlewareContext | StepMiddlewareContext,
  ) => {
    // The cast is safe: a test of this folder wrote the errand.
    const errand = event.metadata?.[kind] as Errand | undefined;
    if (errand === undefined) return;
    const { agentName, instanceKey, agents, signal } = ctx;
    const errands = { address: { agentName, instanceKey }, agents, signal, folder };
    note(errands, 'layer', errand.name, await runErrand(errands, errand));
  };
  pipeline.register('turn', async (ctx) => {
    await carry('turn', ctx.inputEvent, ctx);
    return ctx.next();
  });
  pipeline.register('step', async (ctx) => {
    if (ctx.stepIndex === 0) await carry('step', ctx.turn.inputEvent, ctx);
    return ctx.next();
  });
};
