/** A server that speaks the protocol of Redis, in a container. */
interface RedisContainer {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** Pulls the image where it is missing. @throws Error where no Docker engine answers, or none that has the image */
export async function startRedisContainer(image: string): Promise<RedisContainer> {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(image).withExposedPorts(6379).start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: () => container.stop(),
  };
}
