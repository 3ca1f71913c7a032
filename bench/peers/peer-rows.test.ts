import { describe, expect, test } from 'bun:test';
import { readRepository } from '../../test/read-repository.ts';
import { medians, type PeerRow, peerNotes, peerTable, shortTable, writeBetween } from './peer-rows.ts';

const measured: PeerRow = {
  framework: 'Ours',
  keeps: 'disk',
  name: 'Ours',
  runtime: 'Bun 1',
  outcomes: {
    first: { milliseconds: 41.6, settings: 'every commit synced' },
    ten: { microseconds: 936.2, bytes: 38_333 },
    history: { microseconds: 1_185_837, bytes: 3_802 },
    memory: { megabytes: 45.7 },
  },
};
const missing: PeerRow = {
  framework: 'Theirs',
  keeps: 'memory',
  name: 'Theirs',
  runtime: 'theirs 2.0.0',
  outcomes: { first: { problem: 'not installed: E404' }, ten: { problem: 'not installed: E404' } },
};

describe('the table of npm run bench -- peers', () => {
  const [, , ours, theirs] = peerTable([measured, missing])
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

  test('shows each figure with its unit', () => {
    expect(ours?.slice(1, -1)).toEqual(['Ours', '936 µs', '37 KB', '1186 ms', '3802', '42 ms', '46 MB']);
  });

  test('keeps the row of a peer that cannot be installed, and gives the reason once', () => {
    expect(theirs?.slice(1, -1)).toEqual(['Theirs', ...Array.from({ length: 6 }, () => 'none, see below')]);
    expect(peerNotes([missing])).toBe('- Theirs: theirs 2.0.0; not installed: E404');
  });

  test('names the runtime and the settings of the store', () => {
    expect(peerNotes([measured])).toBe('- Ours: Bun 1; every commit synced');
  });

  test('has the medians of several rounds', () => {
    const rounds = [{ bytes: 3, settings: 'wal' }, { bytes: 90 }, { bytes: 4 }];
    expect(medians(rounds)).toEqual({ bytes: 4, settings: 'wal' });
  });

  test('a failed round is the result of all rounds', () => {
    expect(medians([{ bytes: 3 }, { problem: 'ended with SIGABRT' }])).toEqual({ problem: 'ended with SIGABRT' });
  });

  test('shows a figure that the system does not tell as unknown', () => {
    const row = { ...measured, outcomes: { ...measured.outcomes, ten: { microseconds: 1 } } };
    expect(peerTable([row])).toContain('unknown');
  });

  test('is short in README.md: start and memory are those of the durable row of a framework, if it has one', () => {
    const inMemory: PeerRow = {
      ...measured,
      keeps: 'memory',
      outcomes: { first: { milliseconds: 1 }, ten: { microseconds: 410 }, memory: { megabytes: 1 } },
    };
    const [, , ...lines] = shortTable([measured, inMemory, { ...inMemory, framework: 'Theirs' }, missing]).split('\n');
    expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      '| Ours | 0.4 ms | 0.9 ms | 46 MB | 42 ms |',
      '| Theirs | 0.4 ms | — | 1 MB | 1 ms |',
      '',
    ]);
    expect(shortTable([missing])).toContain('—');
  });

  test('replaces the earlier one in a page, and nothing else', () => {
    const page = 'before\n\n<!-- peers -->\n\nold $&\n\n<!-- /peers -->\n\nafter\n';
    expect(writeBetween(page, 'new $&\n')).toBe(page.replace('old', 'new'));
    expect(() => writeBetween('nothing', 'new')).toThrow('<!-- peers -->');
  });
});

test('the lockfile of each peer fits its manifest, and names no registry', () => {
  const locks = readRepository('bench/peers/*/package-lock.json');
  expect(locks).toHaveLength(4);
  for (const { path, text } of locks) {
    const [manifest] = readRepository(path.replace('-lock', ''));
    const { dependencies } = JSON.parse(manifest?.text ?? '{}');
    expect(JSON.parse(text).packages[''].dependencies, path).toEqual(dependencies);
    expect(text, path).not.toContain('"resolved"');
  }
});
