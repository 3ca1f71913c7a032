import { expect, test } from 'bun:test';
import { fileReferenceOf } from '@goondan/types';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { findNamed } from './find-named.ts';

const digest = 'a1'.repeat(32);
const reference = fileReferenceOf(digest);
const PIECE_BYTES = 1_048_576;

/** Finds a reference at a place of a file that is longer than the pieces in which files are read. */
async function findAt(place: number, folder = '/log'): Promise<boolean> {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder(folder);
  await disk.createNew(`${folder}/lines`, Buffer.from(`${' '.repeat(place)}${reference}${' '.repeat(9)}`));
  return (await findNamed(disk, ['/log'], [digest])).has(digest);
}

test('Y-02 a reference is found wherever it is in a long file', async () => {
  const places = [
    0,
    PIECE_BYTES - reference.length,
    PIECE_BYTES - 40,
    PIECE_BYTES - 1,
    PIECE_BYTES,
    2 * PIECE_BYTES - 1,
  ];
  for (const place of places) expect([place, await findAt(place)]).toEqual([place, true]);
});

test('Y-02 all references of a file are found, and no others', async () => {
  const digests = ['a1', 'b2', 'c3', 'd4'].map((each) => each.repeat(32));
  const [one = '', two = '', unwanted = '', absent = ''] = digests;
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/log');
  const cut = fileReferenceOf(absent).slice(0, -1);
  const text = ['blob:sha256-', one, one, two, unwanted].map((each) => fileReferenceOf(each)).join('') + cut;
  await disk.createNew('/log/lines', Buffer.from(text));
  expect(await findNamed(disk, ['/log'], [one, two, absent])).toEqual(new Set([one, two]));
});
