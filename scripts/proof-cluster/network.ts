/**
 * A network of machines: each one is a network namespace with a cable (a veth pair) to one bridge. The proof itself is
 * at the bridge. A cut cable loses packets in silence, as a broken switch does.
 */
import { run } from './run-command.ts';

export interface Machine {
  readonly name: string;
  readonly address: string;
  /** The command prefix that runs a program at this machine. */
  readonly prefix: readonly string[];
  cutCable(): void;
  mendCable(): void;
}

export interface Network {
  /** The address of the proof in this network. */
  readonly address: string;
  /** Adds a machine. */
  addMachine(): Machine;
}

let networks = 0;

/** Makes a network. A world may have several. */
export function makeNetwork(): Network {
  const number = ++networks;
  const bridge = `bridge-${number}`;
  const subnet = `10.99.${number}`;
  run('ip', 'link', 'add', bridge, 'type', 'bridge');
  run('ip', 'address', 'add', `${subnet}.254/24`, 'dev', bridge);
  run('ip', 'link', 'set', bridge, 'up');
  let machines = 0;
  return {
    address: `${subnet}.254`,
    addMachine() {
      const name = `machine-${number}-${++machines}`;
      const cable = `to-${number}-${machines}`;
      const address = `${subnet}.${machines}`;
      run('ip', 'netns', 'add', name);
      run('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      run('ip', 'link', 'set', cable, 'master', bridge);
      run('ip', 'link', 'set', cable, 'up');
      const inside = ['ip', '-netns', name];
      run(...inside, 'address', 'add', `${address}/24`, 'dev', 'eth0');
      run(...inside, 'link', 'set', 'lo', 'up');
      run(...inside, 'link', 'set', 'eth0', 'up');
      return {
        name,
        address,
        prefix: ['ip', 'netns', 'exec', name],
        // The cable leaves the bridge instead of going down: a program at the machine then gets no error either.
        cutCable: () => void run('ip', 'link', 'set', cable, 'nomaster'),
        mendCable: () => void run('ip', 'link', 'set', cable, 'master', bridge),
      };
    },
  };
}
