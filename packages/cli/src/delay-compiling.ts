/**
 * Makes the start of `gdn` cheaper, as `ports/delay-compiling.ts` of the runtime does for its programs. This is a copy,
 * because nothing of the runtime is imported before a command runs.
 */
export function delayCompiling(): void {
  // Code runs 20 times longer than usual in the interpreter before Bun compiles it to machine code. Most commands are
  // over before compiling pays off.
  Bun.unsafe.setJITPolicy?.(20);
  setTimeout(() => Bun.unsafe.setJITPolicy?.(1), 2_000).unref();
}
