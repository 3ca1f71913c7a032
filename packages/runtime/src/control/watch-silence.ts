import { GoondanError } from '@goondan/types';
import type { ControlSocket } from './control-socket.ts';

/**
 * A deadline that every received byte extends, and the signal that ends a request when it passes.
 * Starts the deadline; `patient` has none.
 */
export function watchSilence({ clock, silenceMs, what }: ControlSocket, patient: boolean) {
  const controller = new AbortController();
  const message = `${what} has sent nothing for ${silenceMs} ms.`;
  let hasLeft = false;
  const arm = () => {
    if (patient) return () => undefined;
    return clock.after(silenceMs, () => controller.abort(new GoondanError('E_CONTROL_SILENT', message)));
  };
  let callOff = arm();
  return {
    /** Aborts with `E_CONTROL_SILENT`, or because the reader left. */
    signal: controller.signal,
    break: () => {
      callOff();
      callOff = arm();
    },
    /** Called when the reader leaves. */
    leave: () => {
      hasLeft = true;
      callOff();
      controller.abort();
    },
    hasLeft: () => hasLeft,
    end: () => callOff(),
  };
}
