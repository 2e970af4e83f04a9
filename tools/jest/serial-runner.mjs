import TestRunner from 'jest-runner';

/** Runs its test files one after the other: each end-to-end test starts a whole cluster and wants the machine to itself. */
export default class SerialRunner extends TestRunner {
  isSerial = true;
}
