import { StartFault } from '#libs/platform/process/start-fault.js';

/** Brokers answer, but the one that is asked for is gone, or nobody leads: it passes when they have elected another. */
export class KafkaUnsettled extends StartFault {}
