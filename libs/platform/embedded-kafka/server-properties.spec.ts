import { expect, it } from '@jest/globals';
import { propertiesOf, type BrokerPlace } from './server-properties.js';

const place: BrokerPlace = {
  id: 1,
  host: '127.0.0.1',
  port: 1,
  controllerPort: 2,
  folder: '/srv/a,b\\Zo\u00eb',
};

function linesWith(settings: Readonly<Record<string, string>>): string[] {
  const plan = { clusterId: 'id', jars: '', brokers: [place], settings: () => settings };
  return propertiesOf(place, plan).split('\n');
}

it('values are escaped so that Java reads them unchanged', () => {
  const [folder, blanks, lines] = ['/a\\b/Zo\u00eb,\u6771', ' two  blanks', 'one\ntwo'];
  expect(linesWith({ folder, blanks, lines, plain: 'a=b:c #!' }).slice(-5)).toEqual([
    'folder=/a\\\\b/Zo\\u00eb,\\u6771',
    'blanks=\\ two  blanks',
    'lines=one\\u000atwo',
    'plain=a=b:c #!',
    '',
  ]);
});

it("the list of folders does not contain the broker's folder, which may have a comma in its name", () => {
  expect(linesWith({})).toContain('log.dirs=data');
});
