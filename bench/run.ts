/**
 * `npm run bench`: measures everything we claim about speed, in one run, as ratios. The numbers are valid only for this
 * machine at this moment.
 */
import { benchFirstToken } from './first-token.ts';
import { benchHistory } from './history.ts';
import { benchOnion } from './onion.ts';
import { benchSpawn } from './spawn.ts';
import { benchStudio } from './studio.ts';
import { benchSwarm } from './swarm.ts';
import { benchTrace } from './trace.ts';
import { benchTurn } from './turn.ts';

const sections: Record<string, () => Promise<void>> = {
  onion: benchOnion,
  trace: benchTrace,
  turn: benchTurn,
  history: benchHistory,
  'first-token': benchFirstToken,
  swarm: benchSwarm,
  studio: benchStudio,
  spawn: benchSpawn,
};
const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(sections)) {
  if (wanted.length === 0 || wanted.includes(name)) await bench();
}
