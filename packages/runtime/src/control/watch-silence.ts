import { GoondanError } from '@goondan/types';
import type { ControlSocket } from './control-socket.ts';

/**
 * Starts a deadline that every received byte extends. The returned signal ends the request when the deadline passes. If
 * `patient` is true, there is no deadline.
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
    /** Aborted with `E_CONTROL_SILENT` when the deadline passes, and also when the reader disconnects. */
    signal: controller.signal,
    break: () => {
      callOff();
      callOff = arm();
    },
    /** Called when the reader disconnects. */
    leave: () => {
      hasLeft = true;
      callOff();
      controller.abort();
    },
    hasLeft: () => hasLeft,
    end: () => callOff(),
  };
}
