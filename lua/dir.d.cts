export declare const luaDir: string;
