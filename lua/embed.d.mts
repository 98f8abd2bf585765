export declare function luaSources(): string;
