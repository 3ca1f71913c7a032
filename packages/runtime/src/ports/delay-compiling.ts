/** How many times longer than usual code runs in the interpreter before Bun compiles it to machine code. */
const RELUCTANCE = 20;
/** The time after which Bun compiles as usual. */
const START_MS = 2_000;

/**
 * Makes the start of a process cheaper. Each of our programs calls it first. By default, Bun compiles a function after
 * some hundred calls or loops, in threads of its own. Starting runs much code that is used no more afterwards, so most of
 * that work is wasted, and a process that ends soon never earns it back. An older Bun, on which somebody embeds a swarm,
 * may lack the function.
 */
export function delayCompiling(): void {
  Bun.unsafe.setJITPolicy?.(RELUCTANCE);
  setTimeout(() => Bun.unsafe.setJITPolicy?.(1), START_MS).unref();
}
