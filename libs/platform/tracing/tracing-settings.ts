import { defineConfig } from '../settings/config.js';
import { headerList, httpUrl, share } from '../settings/setting-types.js';

/** Of every process through which commands go; the names are those that OpenTelemetry has given them. */
export const tracingSettings = defineConfig({
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: httpUrl().optional(),
    describe: 'Where traces go: base URL of a collector that takes OTLP over HTTP; without it there are none',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: headerList().optional(),
    describe: 'What is shown to the collector, like `authorization=Bearer%20abc,x-tenant=a`',
    secret: true,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: share(),
    describe: 'The share of requests that are traced, from 0 to 1; decided where a request comes in',
    default: '1',
  },
});
