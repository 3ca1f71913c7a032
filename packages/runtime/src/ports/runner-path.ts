/** The paths of the programs of child processes. `npm run build` bundles them into `dist`, beside the sources. */
import { join } from 'node:path';

const dist = join(import.meta.dir, '..', '..', 'dist');

export const agentRunner: string = join(dist, 'agent-runner.js');

export const connectorRunner: string = join(dist, 'connector-runner.js');

export const keeperRunner: string = join(dist, 'keeper-runner.js');

export const guardianRunner: string = join(dist, 'guardian-runner.js');
