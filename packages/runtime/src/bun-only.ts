import { requireBun } from './ports/is-bun.ts';

requireBun(
  '@goondan/runtime/internal',
  'Use `@goondan/runtime` and its doors `./bundle`, `./control` and `./history`.',
);
