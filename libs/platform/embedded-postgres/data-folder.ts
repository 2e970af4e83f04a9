import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { chmod, chown, lstat, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { makeFolder, readIfThere } from '../files/make-folder.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';
import { chooseServerUser, mayEnter, type ServerUser } from './server-user.js';

/** Where root creates the folder if the server's user cannot reach the requested data folder. */
const REACHABLE_BASE = '/var/lib/sotto';

export interface ServerCredentials {
  readonly superuser: string;
  readonly application: string;
}

export interface DataPlace {
  /** Owned by the server's user. Contains `data` and the credentials. */
  readonly folder: string;
  readonly data: string;
  readonly user: ServerUser | undefined;
  readonly credentials: ServerCredentials;
  readonly isNew: boolean;
}

/** Finds or creates the folder of the server, and determines its owner. */
export async function openDataPlace(wanted: string, note: (line: string) => void): Promise<DataPlace> {
  const entry = await lstat(wanted).catch(() => undefined);
  const folder = entry?.isSymbolicLink() === true ? await readlink(wanted) : wanted;
  if (entry !== undefined) return await existingPlace(folder);
  const user = await chooseServerUser();
  await makeFolder(path.dirname(wanted), 0o711);
  const created = mayEnter(user, path.dirname(wanted)) ? wanted : await makeElsewhere(wanted, note);
  await makeFolder(created, 0o700);
  if (user !== undefined) await chown(created, user.uid, user.gid);
  return await describePlace(created, user);
}

async function existingPlace(folder: string): Promise<DataPlace> {
  const owner = await stat(folder).catch(() => undefined);
  if (owner === undefined) throw new StartFault(`data folder ${folder} is missing`, EXIT.damaged);
  if (!owner.isDirectory()) throw new StartFault(`cannot use ${folder}: it is not a folder`, EXIT.damaged);
  const self = process.getuid?.();
  if (self === 0) {
    // The owner does not change, because the server runs only as the owner of its files.
    const user = owner.uid === 0 ? await chooseServerUser() : { uid: owner.uid, gid: owner.gid };
    if (owner.uid === 0 && user !== undefined) await chown(folder, user.uid, user.gid);
    if (!mayEnter(user, folder)) {
      throw new StartFault(
        `data folder ${folder} cannot be reached by user id ${user?.uid}: choose another DATA_DIR`,
      );
    }
    return await describePlace(folder, user);
  }
  if (self !== undefined && owner.uid !== self) {
    throw new StartFault(
      `data folder ${folder} belongs to user id ${owner.uid}: start as that user or choose another DATA_DIR`,
    );
  }
  return await describePlace(folder, undefined);
}

async function makeElsewhere(wanted: string, note: (line: string) => void): Promise<string> {
  // Random and not derived from the path: the files of a moved data folder must not be used for a new one.
  const folder = path.join(REACHABLE_BASE, randomBytes(8).toString('hex'));
  await makeFolder(REACHABLE_BASE, 0o755);
  await symlink(folder, wanted);
  note(`the database keeps its files in ${folder}, because its user cannot reach ${wanted}`);
  return folder;
}

async function describePlace(folder: string, user: ServerUser | undefined): Promise<DataPlace> {
  const data = path.join(folder, 'data');
  const isNew = !(await isThere(data));
  return { folder, data, user, isNew, credentials: await readCredentials(folder, isNew) };
}

async function readCredentials(folder: string, mayCreate: boolean): Promise<ServerCredentials> {
  const file = path.join(folder, 'credentials.json');
  const text = await readIfThere(file);
  if (text !== undefined) {
    try {
      const { superuser, application } = JSON.parse(text) as Partial<ServerCredentials>;
      if (typeof superuser === 'string' && typeof application === 'string') return { superuser, application };
    } catch {
      // The fault is reported below, unless there is no data yet: then new credentials are created.
    }
  }
  if (!mayCreate)
    throw new StartFault(`${file} is missing or damaged: the database cannot be opened`, EXIT.damaged);
  const created = {
    superuser: randomBytes(24).toString('hex'),
    application: randomBytes(24).toString('hex'),
  };
  await writeFile(file, JSON.stringify(created), { mode: 0o600 });
  await chmod(file, 0o600);
  return created;
}

/** Throws for an unreadable folder, which is not missing: creating it again would destroy it. */
async function isThere(data: string): Promise<boolean> {
  try {
    await readdir(data);
    return true;
  } catch (error) {
    const code = isCodedError(error) ? error.code : undefined;
    if (code === 'ENOTDIR') throw new StartFault(`cannot use ${data}: it is not a folder`, EXIT.damaged);
    // A link without a target is the remainder of a database.
    if (code !== 'ENOENT' || (await lstat(data).catch(() => undefined)) !== undefined) throw error;
    return false;
  }
}

/** Checks the files before the server starts, so that faults are reported clearly. */
export async function checkDataFiles(place: DataPlace, serverVersion: string): Promise<void> {
  const version = await readIfThere(path.join(place.data, 'PG_VERSION'));
  if (version === undefined) {
    throw new StartFault(`data folder ${place.data} is damaged: PG_VERSION is missing`, EXIT.damaged);
  }
  const major = version.trim();
  if (!/^\d+$/.test(major)) {
    throw new StartFault(`data folder ${place.data} is damaged: PG_VERSION is not a version`, EXIT.damaged);
  }
  if (major !== serverVersion) {
    throw new StartFault(
      `data folder ${place.data} was made by PostgreSQL ${major}, this is ${serverVersion}`,
      EXIT.damaged,
    );
  }
}

/**
 * A shell that runs the server and reads a pipe from us. When the pipe closes, which happens however we end, it waits a second for
 * the server's clients, requests a fast shutdown, and later an immediate one. It ends with the server's exit code.
 */
export const KEEPER_SCRIPT = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
(
  read -r _ <&3
  trap 'kill "$nap"; wait "$nap"; exit 0' TERM
  sleep 1 & nap=$!
  wait "$nap"
  kill -INT "$server"
  sleep 5 & nap=$!
  wait "$nap"
  kill -QUIT "$server"
) 2>/dev/null &
guard=$!
exec 3<&-
wait "$server"
code=$?
kill "$guard" 2>/dev/null
wait "$guard" 2>/dev/null
[ -z "$SOTTO_REMOVE_FOLDER" ] || rm -rf "$SOTTO_REMOVE_FOLDER"
exit "$code"
`;
