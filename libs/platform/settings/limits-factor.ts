const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/;

/**
 * LIMITS_FACTOR is for measuring. Whoever honours it checks for itself that no other machine can reach the addresses it listens
 * on; which settings hold them is said here.
 */
export function limitsHoldUnlessLoopback<Host extends string>(
  ...hosts: readonly Host[]
): (config: Readonly<Record<Host, string>> & { readonly LIMITS_FACTOR: number }) => string | undefined {
  return (config) => {
    if (config.LIMITS_FACTOR === 1) return undefined;
    const reachable = hosts.find((host) => !LOOPBACK.test(config[host]));
    if (reachable === undefined) return undefined;
    return `LIMITS_FACTOR=${config.LIMITS_FACTOR} is wrong: limits hold unless ${reachable} is a loopback address`;
  };
}
