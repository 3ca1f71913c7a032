/** Administration of instances that also takes care of their stored bytes. */
import type { Blobs } from '../blobs.ts';
import type { InstanceAdmin } from '../instance-admin.ts';

/** Wraps the administration of conversations. */
export function withBlobs(admin: InstanceAdmin, blobs: Blobs): InstanceAdmin {
  return {
    reset: (instance, ending) => admin.reset(instance, ending),
    has: (instance) => admin.has(instance),
    async delete(instance, options) {
      const deleted = await admin.delete(instance, options);
      // The conversation is deleted. If this fails, the next start finds uses without a conversation.
      await blobs.release(instance).catch(() => undefined);
      return deleted;
    },
    async fork(from, options) {
      const to = { agentName: from.agentName, instanceKey: options.as };
      // First, because the original may be deleted as soon as the fork exists. A use of a refused fork is swept later.
      if (!(await admin.has(to))) await blobs.share(from, to);
      return admin.fork(from, options);
    },
    async sweep() {
      await admin.sweep();
      await blobs.sweep();
    },
  };
}
