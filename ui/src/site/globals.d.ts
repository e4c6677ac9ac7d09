/** True in the build that is written as files (`benchbook site`), false in the one that a server hands out. */
declare const SITE: boolean;

interface Window {
  /** Called by each script in data/: its name, and its JSON, packed with gzip, in base64. */
  benchbook?: (name: string, packed: string) => void;
}
