import { expect, test } from 'bun:test';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { instancePaths } from '../layout/instance-paths.ts';
import { checksum } from '../lines/checksum.ts';
import { readTraceLines } from './read-trace-file.ts';
import { listTraces } from './trace-names.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const { folder, traces } = instancePaths('/w', coder);

const names = [1, 2].map((number) => `1970010100000000${number}~trace~turn-${number}`);

/** Writes two turns as version 0.1 did. */
function segment(hasIndex: boolean): string {
  let text = '';
  const index = names.map((name, n) => {
    const from = text.length;
    text += `\n{"n":${n},"turn":"${name}","crc":${checksum(`${n} ${name}`)}}\n`;
    text += `{"n":${n},"line":{"type":"dropped","count":${10 + n}}}\n{"n":${n},"line":{"type":"cut"}}\n`;
    return [name, n, from, text.length];
  });
  return hasIndex ? `${text}${JSON.stringify({ crc: checksum(JSON.stringify(index)), index })}\n` : text;
}

test.each([true, false])('the segments of version 0.1 are read (with an index: %p)', async (hasIndex) => {
  const disk = SimulatedDisk.empty();
  for (const path of ['/w', '/w/instances', folder, traces]) await disk.makeFolder(path);
  const file = await disk.openFile(`${traces}/traces.000001.jsonl`);
  await file.append(Buffer.from(segment(hasIndex)));
  const listed = (await listTraces(disk, '/w')).toReversed();
  expect(listed.map(({ turn }) => turn)).toEqual(['turn-1', 'turn-2']);
  expect(await Promise.all(listed.map(({ pieces }) => readTraceLines(disk, pieces)))).toEqual([
    [{ type: 'dropped', count: 10 }, { type: 'cut' }],
    [{ type: 'dropped', count: 11 }, { type: 'cut' }],
  ]);
});
