import { Session, type Debugger, type InspectorNotification } from 'node:inspector';

/** Stands once in each copy of the library, bundled or minified too. The class keeps this file from matching itself. */
const MARK = /nestjs-floodgate[:]transport/g;

/** How many copies of the library this process has loaded: both of its builds, say, or one of them twice. */
export function loadedCopies(): number {
  const scripts: string[] = [];
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params }: InspectorNotification<Debugger.ScriptParsedEventDataType>) => {
    scripts.push(params.scriptId);
  });
  session.post('Debugger.enable');
  let copies = 0;
  for (const scriptId of scripts) {
    session.post('Debugger.getScriptSource', { scriptId }, (error, { scriptSource }) => {
      if (error) throw error;
      copies += scriptSource.match(MARK)?.length ?? 0;
    });
  }
  session.disconnect();
  return copies;
}
