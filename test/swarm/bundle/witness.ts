/** Records every event that reaches its agent, as its layers see it. */
import type { ExtensionRegister } from '@goondan/types';
import { note } from './run-errand.ts';

export const register: ExtensionRegister<{ folder: string }> = ({ pipeline }, { folder }) => {
  pipeline.register('turn', (ctx) => {
    const { agentName, instanceKey, inputEvent, traceId } = ctx;
    note({ address: { agentName, instanceKey }, folder }, 'heard', inputEvent.id, { inputEvent, traceId });
    return ctx.next();
  });
};
