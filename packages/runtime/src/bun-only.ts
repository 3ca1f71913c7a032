import { requireBun } from './ports/is-bun.ts';

requireBun(
  '@goondan/runtime/internal',
  'Use `@goondan/runtime` and its entry points `./bundle`, `./control` and `./history`.',
);
