import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * After the first reply on a connection kafkajs checks every millisecond for requests that wait to be sent (its issue 1751).
 * Requests wait only while the broker throttles the client, which is rare, so this patch checks only then.
 */
const { prototype } = RequestQueue;
const { scheduleCheckPendingRequests: schedule } = prototype;

prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) schedule.call(this);
};
