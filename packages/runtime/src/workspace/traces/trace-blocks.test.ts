import { expect, test } from 'bun:test';
import { blockTag, encodeHeader, findBlocks, lineStart } from './trace-blocks.ts';

const instance = 'coder~default';

function block(turn: string): string {
  const tag = blockTag(turn, instance);
  return `${encodeHeader(tag, turn, instance)}${lineStart(tag)}{"type":"cut"}}\n`;
}

test('a damaged beginning of a block is not taken for another turn or instance, and concerns no other block', () => {
  const names = ['20260101000000000~trace~turn-1', '20260101000000001~trace~turn-2'];
  const whole = Buffer.from(names.map((name) => block(name)).join(''));
  expect(findBlocks(whole).map(({ turn }) => turn)).toEqual(names);
  const [first = ''] = names;
  const header = Buffer.byteLength(encodeHeader(blockTag(first, instance), first, instance));
  for (let at = 0; at < header; at += 1) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(findBlocks(damaged).map((each) => [at, each.turn, each.instance])).toEqual([[at, names[1] ?? '', instance]]);
  }
});
