/**
 * A replicated PostgreSQL with three members, which replaces a dead primary by itself: Patroni, etcd and PostgreSQL of
 * Debian's packages, each member at a machine of the network. Replication is synchronous: a commit is acknowledged
 * when a second member has it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresPrograms } from './debian-packages.ts';
import type { Machine, Network } from './network.ts';
import { run } from './run-command.ts';

export interface ReplicatedDatabase {
  /** The address with all members. A client takes the primary. */
  readonly address: string;
  /** Waits for a primary that is not this member. Returns it with the time that it took. */
  waitForPrimary(not?: Member): Promise<{ readonly primary: Member; readonly ms: number }>;
  /** Waits until all members follow the primary, one of them synchronously. */
  waitForStandby(): Promise<void>;
  stop(): Promise<void>;
}

export interface Member {
  readonly machine: Machine;
  /** Ends all programs of the member at once, as a power cut does. */
  kill(): Promise<void>;
  /** Starts a killed member again, with an empty folder of data, as a new machine: it copies the primary. */
  start(): void;
}

const MEMBERS = 3;
/** The name of the database in etcd. */
const SCOPE = 'goondan';
const PRIMARY_LIMIT_MS = 60_000;
/** Seconds until Patroni replaces a primary; 20 is the least that Patroni allows. */
const PRIMARY_LEASE_SECONDS = 20;

/** Starts the members. The folder must not exist. */
export async function startPatroni(network: Network, folder: string): Promise<ReplicatedDatabase> {
  mkdirSync(folder, { mode: 0o755 });
  const machines = Array.from({ length: MEMBERS }, () => network.addMachine());
  const user = { id: Number(run('id', '-u', 'postgres')), group: Number(run('id', '-g', 'postgres')) };
  const members = machines.map((machine) => makeMember(machine, machines, join(folder, machine.name), user));
  for (const member of members) member.start();
  const database: ReplicatedDatabase = {
    address: `postgres://postgres@${machines.map(({ address }) => `${address}:5432`).join(',')}/postgres?target_session_attrs=primary`,
    async waitForPrimary(not) {
      const startedAt = performance.now();
      const primary = await until(folder, async () => {
        const isPrimary = await Promise.all(members.map((member) => answers(member, 'primary')));
        return members.find((member, index) => member !== not && isPrimary[index] === true);
      });
      return { primary, ms: performance.now() - startedAt };
    },
    async waitForStandby() {
      await until(folder, async () => {
        const roles = await Promise.all(
          members.map(async (member) => ((await answers(member, 'primary')) ? member : undefined)),
        );
        const [primary, ...more] = roles.filter((member) => member !== undefined);
        if (primary === undefined || more.length > 0) return false;
        const followers = members.filter((member) => member !== primary);
        const follow = await Promise.all(followers.map((member) => answers(member, 'replica')));
        const { leader, standby } = await readSynchronous(primary);
        return (
          !follow.includes(false) &&
          leader === primary.machine.name &&
          followers.some(({ machine }) => machine.name === standby)
        );
      });
    },
    async stop() {
      await Promise.all(members.map((member) => member.kill()));
    },
  };
  await database.waitForStandby();
  return database;
}

async function until<Found>(folder: string, look: () => Promise<Found | undefined | false>): Promise<Found> {
  const deadline = performance.now() + PRIMARY_LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`The members did not agree:\n${lastLines(folder)}`);
    await Bun.sleep(200);
  }
}

/** The folder ends with the world, so the error has the ends of the logs. */
function lastLines(folder: string): string {
  const logs = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name, 'log'), 'utf8')] as const);
  return logs.map(([name, text]) => `${name}:\n${text.split('\n').slice(-15).join('\n')}`).join('\n');
}

/**
 * Reads from etcd which member Patroni takes for the synchronous standby of which primary. Only that member may become the
 * next primary. The roles that Patroni tells may be those of the primary before.
 */
async function readSynchronous({ machine }: Member): Promise<{ readonly leader?: string; readonly standby?: string }> {
  try {
    const answer = await fetch(`http://${machine.address}:2379/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify({ key: btoa(`/service/${SCOPE}/sync`) }),
      signal: AbortSignal.timeout(1_000),
    });
    // Safe: the shape of etcd's answer, and of the value that Patroni writes.
    const { kvs } = (await answer.json()) as { readonly kvs?: readonly { readonly value: string }[] };
    const value = JSON.parse(atob(kvs?.[0]?.value ?? btoa('{}'))) as { leader?: string; sync_standby?: string };
    return {
      ...(value.leader && { leader: value.leader }),
      ...(value.sync_standby && { standby: value.sync_standby }),
    };
  } catch {
    return {};
  }
}

/** Asks the Patroni of a member about its role. */
async function answers({ machine }: Member, role: 'primary' | 'replica'): Promise<boolean> {
  try {
    const url = `http://${machine.address}:8008/${role}`;
    return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

interface User {
  readonly id: number;
  readonly group: number;
}

function makeMember(machine: Machine, all: readonly Machine[], folder: string, user: User): Member {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, user.id, user.group);
  writeFileSync(join(folder, 'patroni.json'), JSON.stringify(patroniSettings(machine, all, folder), undefined, 2), {
    mode: 0o644,
  });
  let programs: ChildProcess[] = [];
  return {
    machine,
    start() {
      rmSync(join(folder, 'data'), { recursive: true, force: true });
      const log = openSync(join(folder, 'log'), 'a');
      // Each program has a pid namespace of its own, which ends with it: PostgreSQL does not outlive Patroni. A change of
      // the user forgets the signal of `--kill-child`, so `setpriv` sets it again.
      const alone = ['unshare', '--pid', '--fork', '--mount-proc'];
      const asUser = [
        'setpriv',
        `--reuid=${user.id}`,
        `--regid=${user.group}`,
        '--clear-groups',
        '--pdeathsig',
        'KILL',
      ];
      const commands = [etcdCommand(machine, all, folder), ['patroni', join(folder, 'patroni.json')]];
      programs = commands.map((command) => {
        const [program = '', ...args] = [...machine.prefix, ...alone, ...asUser, ...command];
        return spawn(program, args, { stdio: ['ignore', log, log], cwd: folder });
      });
      closeSync(log);
    },
    async kill() {
      const ended = programs.map((program) => new Promise((resolve) => void program.once('exit', resolve)));
      for (const program of programs) program.kill('SIGKILL');
      if (programs.length > 0) await Promise.all(ended);
      programs = [];
    },
  };
}

function etcdCommand(machine: Machine, all: readonly Machine[], folder: string): string[] {
  const peers = all.map(({ name, address }) => `${name}=http://${address}:2380`).join(',');
  const [peer, client] = [`http://${machine.address}:2380`, `http://${machine.address}:2379`];
  return [
    ...['etcd', '--name', machine.name, '--data-dir', join(folder, 'etcd'), '--log-level', 'warn'],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--initial-cluster', peers, '--initial-cluster-state', 'new'],
    ...['--heartbeat-interval', '100', '--election-timeout', '1000'],
  ];
}

function patroniSettings(machine: Machine, all: readonly Machine[], folder: string): object {
  const authentication = { username: 'postgres' };
  return {
    scope: SCOPE,
    name: machine.name,
    restapi: { listen: `${machine.address}:8008`, connect_address: `${machine.address}:8008` },
    etcd3: { hosts: all.map(({ address }) => `${address}:2379`) },
    bootstrap: {
      dcs: {
        ttl: PRIMARY_LEASE_SECONDS,
        loop_wait: 1,
        retry_timeout: 3,
        // A dead primary is replaced at once; without this, Patroni tries to start it again for minutes.
        master_start_timeout: 0,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, parameters: { wal_log_hints: 'on', max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }],
    },
    postgresql: {
      listen: `${machine.address}:5432`,
      connect_address: `${machine.address}:5432`,
      bin_dir: findPostgresPrograms(),
      data_dir: join(folder, 'data'),
      pg_hba: ['local all all trust', 'host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust'],
      authentication: { superuser: authentication, replication: authentication, rewind: authentication },
      pgpass: join(folder, 'pgpass'),
      parameters: { unix_socket_directories: folder },
    },
  };
}
