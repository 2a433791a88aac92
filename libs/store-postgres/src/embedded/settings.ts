/** Names the socket in its directory; nothing listens on the network, so it never clashes. */
export const PORT = 5432;

/** The superuser that owns everything, and the database that everything is in. */
export const USER = "forge";
export const DATABASE = "forge";

/**
 * The server's settings, given on the command line, so that they follow this code and not the age of the data directory. What is not here is
 * PostgreSQL's default: the write-ahead log, for one, is as safe as anywhere.
 */
export function serverSettings(runtimeDirectory: string): Record<string, string> {
  return {
    listen_addresses: "",
    port: String(PORT),
    // A list of quoted names, in which a comma or a blank is part of the name.
    unix_socket_directories: `"${runtimeDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    // One control plane's pools, the wake-up connection and room for somebody looking; each costs memory when used.
    max_connections: "50",
    shared_buffers: "128MB",
    // Statements are short: compiling one costs more than it can save.
    jit: "off",
    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "warning",
    // Otherwise every checkpoint, every five minutes under load, is a line.
    log_checkpoints: "off",
    log_line_prefix: "%m [%p] ",
    lc_messages: "C",
    cluster_name: "forge",
  };
}
