import type { AgentInstance } from '@goondan/types';
import { type Check, oneOf } from './shape.ts';

export const instanceState: Check<AgentInstance['status']> = oneOf(
  'working',
  'idle',
  'starting',
  'waiting',
  'does not start',
  'stopped',
  'asleep',
);
