/** Runs errands in its layers: `metadata.turn` of an event in the turn's, `metadata.step` in the first step's. */
import type { AgentEvent, ExtensionRegister, StepMiddlewareContext, TurnMiddlewareContext } from '@goondan/types';
import { type Errand, note, runErrand } from './run-errand.ts';

export const register: ExtensionRegister<{ folder: string }> = ({ pipeline }, { folder }) => {
  const carry = async (
    kind: 'turn' | 'step',
    event: AgentEvent,
    ctx: TurnMiddlewareContext | StepMiddlewareContext,
  ) => {
    // Written by a test of this folder.
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
